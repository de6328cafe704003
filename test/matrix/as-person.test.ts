// The process outside the cluster, with an administrator's kubeconfig instead of a ServiceAccount, as in the README.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer, shown } from '../whole/manifests.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const env = dialect.here
const asPerson = `--kubeconfig=${stage.controlPlane.kubeconfig}`
const quick = ['--sweep-interval=1s', '--unbound-grace=2s']
let products: Product[] = [await stage.startSwept({ env, flags: [asPerson, ...quick] })]

/** Makes the cloud lose a Service's reservation, and reuse the address for a stranger. */
async function loseAddress(name: string): Promise<string> {
  const lost = await stage.settled(name)
  const { id = '' } = stage.reserved().find(({ address }) => address === lost) ?? {}
  stage.cloud.control.reservations.vanish(id)
  assert.is((await stage.order()).address, lost)
  return lost
}

/** Waits until a Service has another address, and shows the lost one nowhere. */
async function hasAnother(name: string, lost: string): Promise<void> {
  await eventually('the Service shows another address', async (observe) => {
    const service = observe(await stage.service(name))
    const { annotations = {} } = service?.metadata ?? {}
    const ips = [annotations[shown], service?.spec.loadBalancerIP, service?.status?.loadBalancer?.ingress?.[0]?.ip]
    return ips.every((ip) => ip !== undefined && ip !== lost) || undefined
  })
  assert.not.equal(await stage.settled(name), lost)
}

test('the API server tells the process who it is', () => {
  assert.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), 'the API server knows this process as this user')
})

test('the person whose kubeconfig it is still gets addresses at admission, and back what a patch dropped', async () => {
  const { spec } = await stage.create(loadBalancer('mine'))
  const address = spec.loadBalancerIP
  assert.ok(address)
  await stage.settled('mine')
  const dropping = { metadata: { annotations: { [shown]: null } }, spec: { loadBalancerIP: null } }
  await stage.run('patch', 'service', 'mine', '--type=merge', '-p', JSON.stringify(dropping))
  const { metadata, spec: after } = (await stage.service('mine')) ?? {}
  assert.equal([metadata?.annotations?.[shown], after?.loadBalancerIP], [address, address])
})

test('an address that the controller takes away from a Service is not restored by the webhooks', async () => {
  await stage.create(loadBalancer('unlucky'))
  await hasAnother('unlucky', await loseAddress('unlucky'))
})

test('nor where controllers and webhooks have different users', async () => {
  for (const product of products) await product.stop()
  products = [
    await stage.start({ env, flags: ['--only=webhooks'] }),
    await stage.serve({ env, flags: ['--v=5', asPerson, '--only=controllers', ...quick] }),
  ]
  await stage.create(loadBalancer('unluckier'))
  await hasAnother('unluckier', await loseAddress('unluckier'))
})

test.after(() => stage.close())

test.run()
