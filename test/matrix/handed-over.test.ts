// Services that stop being ours while they hold an address: it is released in order, and everything else stays as the
// other program has it.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, shown } from '../whole/manifests.ts'
import { metallbView } from '../whole/metallb-view.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const metallb = metallbView(stage, '0.16.1')
await stage.run('create', 'namespace', 'metallb-system')
await metallb.install()
const env = { ...dialect.here, [dialect.loadBalancer]: 'metallb:///metallb-system?crdConfiguration=true' }
const flags = ['--own-address-ranges=198.51.100.0/24,2001:db8::/64']
let product = await stage.startSwept({ env, flags })
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const several = '198.51.100.7,2001:db8::7'
const requests = 'metallb.io/loadBalancerIPs'

/**
 * Creates a Service and waits until its address is announced. The product stops afterwards, so that admission misses
 * what follows.
 */
async function holds(name: string): Promise<string> {
  const { spec } = await stage.create(loadBalancer(name))
  const address = spec.loadBalancerIP ?? ''
  await eventually('it is announced and bound', async () => {
    const isBound = (await stage.record(name))?.status?.phase === 'Bound'
    return (isBound && (await metallb.pools()).includes(`${address}/32`)) || undefined
  })
  return address
}

async function isReleased(name: string, address: string): Promise<void> {
  await eventually('our record and our finalizer no longer exist', async (observe) => {
    const [service, record] = observe([await stage.service(name), await stage.record(name)])
    return (!record && !service?.metadata.finalizers?.includes(finalizer)) || undefined
  })
  assert.not(stage.reserved().some((one) => one.address === address))
  assert.not((await metallb.pools()).includes(`${address}/32`))
}

const patch = (name: string, change: object, ...more: string[]) =>
  stage.run('patch', 'service', name, '--type=merge', '-p', JSON.stringify(change), ...more)

test('a Service of another class gives its address back, and keeps the finalizer of its controller', async () => {
  const address = await holds('classed')
  await product.stop()
  await patch('classed', { spec: { type: 'ClusterIP' } })
  const theirs = { loadBalancer: { ingress: [{ ip: '192.0.2.55' }] } }
  await patch('classed', {
    metadata: { finalizers: [finalizer, upstream] },
    spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/other' },
  })
  await patch('classed', { status: theirs }, '--subresource=status')
  product = await stage.startSwept({ env, flags })
  await isReleased('classed', address)
  const { metadata, spec, status } = (await stage.service('classed')) ?? {}
  assert.equal(
    [metadata?.finalizers, metadata?.annotations?.[shown], spec?.loadBalancerIP],
    [[upstream], undefined, undefined],
  )
  assert.is(status?.loadBalancer?.ingress?.[0]?.ip, '192.0.2.55', 'what its controller wrote stays')
  await stage.run('delete', 'service', 'classed', '--wait=false')
  await stage.create(loadBalancer('after'))
  assert.equal((await stage.service('classed'))?.metadata.finalizers, [upstream])
  await patch('classed', { metadata: { finalizers: null } })
})

test('a Service that requests several addresses gives ours back, and keeps its request', async () => {
  const address = await holds('several')
  const manifest = loadBalancer('several', { annotations: { [requests]: several } })
  const { stderr } = await stage.kubectl(['replace', '-f', '-'], manifest)
  assert.match(stderr, `annotation ${requests} requests several addresses, and ${address} is reserved for it`)
  await product.stop()
  await stage.run(
    'patch',
    'service',
    'several',
    '--type=merge',
    '-p',
    JSON.stringify({
      metadata: { annotations: { [requests]: several, [shown]: null } },
      spec: { loadBalancerIP: null },
    }),
  )
  product = await stage.startSwept({ env, flags })
  await isReleased('several', address)
  assert.equal((await stage.service('several'))?.metadata.annotations, { [requests]: several })
})

test('a Service that requests our address among several keeps it', async () => {
  const address = await holds('among')
  await product.stop()
  const annotations = { [requests]: `${address},2001:db8::7`, [shown]: null }
  await patch('among', { metadata: { annotations }, spec: { loadBalancerIP: null } })
  product = await stage.startSwept({ env, flags })
  await stage.create(loadBalancer('later'))
  await stage.run('label', 'service', 'among', 'team=web')
  assert.is((await stage.record('among'))?.status?.phase, 'Bound')
  assert.ok(stage.reserved().some((one) => one.address === address))
})

test.after(() => stage.close())

test.run()
