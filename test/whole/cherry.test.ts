// A cluster on Cherry Servers: its tags, its regions, its annotations, its Services that are somebody else's.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeObject, Node, Service } from '../../kube/objects.ts'
import { setStage } from '../../sandbox/stage.ts'
import { eventually } from './eventually.ts'
import { kubelets } from './kubelet.ts'
import { loadBalancer } from './manifests.ts'

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
process.once('exit', (code) => {
  if (code === 0) rmSync(dir, { recursive: true, force: true })
  else console.error(`the logs of a failed test of the whole: ${join(dir, 'logs')}`)
})
const stage = await setStage({ dir, dialect: 'cherry-servers' })
const { door } = stage.cloud

async function must(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await stage.kubectl(args)
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

async function create(manifest: object): Promise<{ service: Service; stderr: string }> {
  const { code, stdout, stderr } = await stage.kubectl(['create', '-f', '-', '-o', 'json'], manifest)
  if (code !== 0) throw new Error(stderr)
  return { service: JSON.parse(stdout) as Service, stderr }
}

const get = async <T extends KubeObject>(...what: string[]) => JSON.parse(await must('get', ...what, '-o', 'json')) as T

type FloatingIp = { id: string; address: string; region: { slug: string }; tags: Record<string, string> }
const reserved = () => door.reservations.all() as unknown as FloatingIp[]
const ofAddress = (address: string | undefined) => reserved().find((one) => one.address === address)

const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')
const env = { CHERRY_REGION_NAME: 'EU-Nord-1', CHERRY_LOAD_BALANCER: 'empty://' }
const product = await stage.serve({ env, flags: ['--v=5', '--service-location-wins'] })
await eventually('the regions are known', () => log().includes('before, write') || undefined)
const { register, seen } = kubelets({ kubectl: stage.kubectl, must })

test('a region by its old name is understood, and the log says what to write', () => {
  assert.match(log(), 'setting CHERRY_REGION_NAME: \\"EU-Nord-1\\" is what region LT-Siauliai was called before')
})

test('a Service gets its address in that region, with the tags of old', async () => {
  const { service } = await create(loadBalancer('web'))
  const { metadata } = await get('namespace', 'kube-system')
  const held = ofAddress(service.spec.loadBalancerIP)
  assert.is(held?.region.slug, 'LT-Siauliai')
  assert.equal(held?.tags, {
    usage: 'cloud-provider-cherry-auto',
    service: createHash('sha256').update('default/web').digest('base64'),
    cluster: metadata.uid,
  })
})

test('a Service that asks for a region by its country gets it there', async () => {
  const annotations = { 'cherryservers.com/fip-region': 'nl' }
  const { service } = await create(loadBalancer('abroad', { annotations }))
  assert.is(ofAddress(service.spec.loadBalancerIP)?.region.slug, 'NL-Amsterdam')
})

test('an old name on a Service is understood, and whoever wrote it reads the new one', async () => {
  const annotations = { 'cherryservers.com/fip-region': 'EU-West-1' }
  const { service, stderr } = await create(loadBalancer('elderly', { annotations }))
  assert.is(ofAddress(service.spec.loadBalancerIP)?.region.slug, 'NL-Amsterdam')
  assert.match(stderr, 'write "NL-Amsterdam"')
})

const managed = 'cherryservers.com/loadbalancer-managed'
test('a Service that somebody else manages gets nothing of us', async () => {
  const { service } = await create(loadBalancer('elsewhere', { annotations: { [managed]: 'false' } }))
  assert.equal([service.spec.loadBalancerIP, service.metadata.finalizers], [undefined, undefined])
})

test('a Service that is given to somebody else later gives its address back', async () => {
  const { service } = await create(loadBalancer('handed-over'))
  const address = service.spec.loadBalancerIP
  assert.ok(ofAddress(address))
  await must('annotate', 'service', 'handed-over', `${managed}=false`)
  await eventually('the address is gone', () => (ofAddress(address) ? undefined : true))
  await eventually('and from the Service', async (see) => {
    const { metadata, spec } = see(await get<Service>('service', 'handed-over'))
    return (spec.loadBalancerIP === undefined && metadata.finalizers === undefined) || undefined
  })
})

test('a node is named, placed and annotated as of old', async () => {
  const { id } = door.devices.add({ hostname: 'worker' }) as unknown as { id: number }
  await register('worker')
  const annotated = await seen('it is annotated', 'worker', (node: Node | undefined) => {
    const { 'cherryservers.com/bgp-peers-0-peer-multi-hop': said } = node?.metadata.annotations ?? {}
    return said === 'true' && node?.spec.providerID ? node : undefined
  })
  assert.is(annotated.spec.providerID, `cherryservers://${id}`)
  assert.is(annotated.metadata.labels?.['topology.kubernetes.io/region'], 'LT-Siauliai')
  const { annotations = {} } = annotated.metadata
  for (const n of [0, 1]) {
    const fact = (name: string) => annotations[`cherryservers.com/bgp-peers-${n}-${name}`]
    assert.match(fact('node-asn') ?? '', /^[1-9]\d*$/)
    assert.match(fact('peer-asn') ?? '', /^[1-9]\d*$/)
    assert.ok(fact('peer-ip'))
    assert.ok(fact('src-ip'))
    assert.is(fact('bgp-pass'), undefined)
  }
})

test('an address goes back with its Service', async () => {
  const { spec } = await get<Service>('service', 'web')
  await must('delete', 'service', 'web')
  await eventually('it is gone', () => (ofAddress(spec.loadBalancerIP) ? undefined : true))
})

test('the roles are enough, and no secret is in the log', async () => {
  await product.stop()
  await stage.stop()
  assert.is(log().match(/User \\?"[^"]*" cannot .*/)?.[0], undefined)
  assert.is(log().match(/.*(no decision|UnhandledPromise|TypeError|ReferenceError).*/)?.[0], undefined)
  assert.not.match(log(), stage.token)
})

test.run()
