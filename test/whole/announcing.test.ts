// What MetalLB reads, on a real API server: written, kept through a cloud that cannot be read, and taken back first.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../kube/objects.ts'
import { metallbPrograms } from '../../sandbox/metallb/build.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { machineRoom } from './kubelet.ts'
import { loadBalancer } from './manifests.ts'
import { openWorld, routes } from './world.ts'

const world = await openWorld()
const { comesUp } = machineRoom(world)
const { faults, calls, latency } = world.cloud.door
const namespace = 'metallb-system'
const settings = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: `metallb:///${namespace}?crdConfiguration=true` }

let product: Product | undefined
async function run(env: Record<string, string> = {}): Promise<void> {
  await product?.stop()
  product = await world.startSwept({ env: { ...settings, ...env } })
}

type Spec = KubeObject & { spec: Record<string, unknown> }

async function there(kind: string): Promise<Spec[]> {
  const text = await world.must('get', kind, '-n', namespace, '-o', 'json')
  return (JSON.parse(text) as { items: Spec[] }).items
}

const pools = async () =>
  (await there('ipaddresspools')).flatMap(({ spec }) => spec['addresses'] as string[]).toSorted()
const peers = async () => (await there('bgppeers')).map(({ metadata }) => metadata.name).toSorted()
const versions = async () =>
  (await Promise.all(['ipaddresspools', 'bgppeers', 'bgpadvertisements'].map(there)))
    .flat()
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
const arePools = (...wanted: string[]) =>
  eventually(`the pools are ${wanted.join()}`, async (see) => {
    return see(await pools()).join() === wanted.toSorted().join() || undefined
  })
const arePeers = (...wanted: string[]) =>
  eventually(`the peers are those of ${wanted.join()}`, async (see) => {
    const nodes = see(await peers()).map((name) => name.replace(/\.169.*$/, ''))
    return nodes.join() === wanted.flatMap((name) => [name, name]).join() || undefined
  })
const addressOf = async (name: string) => (await world.service(name))?.spec.loadBalancerIP ?? ''
const events = (name: string) =>
  world.must('get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].message}')

/** A pool as a person writes it. */
const pool = (name: string, range: string) => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name, namespace },
  spec: { addresses: [range], autoAssign: false },
})

const admission = 'admissionregistration.k8s.io/v1'
const resourceRules = [
  { apiGroups: ['metallb.io'], apiVersions: ['*'], operations: ['CREATE'], resources: ['ipaddresspools'] },
]
const noNewPools = [
  {
    apiVersion: admission,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-new-pools' },
    spec: {
      matchConstraints: { resourceRules },
      validations: [{ expression: 'false', message: 'no new pools' }],
    },
  },
  {
    apiVersion: admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-new-pools' },
    spec: { policyName: 'no-new-pools', validationActions: ['Deny'] },
  },
]

test('MetalLB that is installed later learns what was there before it', async () => {
  await world.must('create', 'namespace', namespace)
  await run()
  await comesUp('node-a')
  const created = await world.create(loadBalancer('web'))
  assert.ok(created.spec.loadBalancerIP)
  const { crds } = await metallbPrograms('0.16.1')
  for (const file of readdirSync(crds)) await world.must('apply', '--server-side', '-f', join(crds, file))
  await arePools(`${created.spec.loadBalancerIP}/32`)
  await arePeers('node-a')
})

test('a node that comes up later gets its sessions, and one that goes takes them along', async () => {
  await comesUp('node-b')
  await arePeers('node-a', 'node-b')
  await world.must('delete', 'node', 'node-b')
  await arePeers('node-a')
})

test('a cloud that refuses our key, or does not answer, takes nothing away, through a restart neither', async () => {
  const before = await versions()
  for (const answer of [401, 500, 'reset', 'empty-list'] as const) {
    faults.add({ answer })
    await product?.stop()
    product = await world.serve({ env: { ...settings, EIP_PEER_REFRESH_INTERVAL: '1s' } })
    await sleep(3_000)
    faults.clear()
    assert.equal(await versions(), before, `nothing was written while the cloud answered ${answer}`)
  }
})

test("a person's own pool is not touched, and an address in it is not given a second one", async () => {
  await world.send(['create'], pool('theirs', '198.51.100.0/24'))
  const shown = `${await addressOf('web')}/32`
  await world.create(loadBalancer('own', { spec: { loadBalancerIP: '198.51.100.7' } }))
  await sleep(1_000)
  assert.equal(await pools(), ['198.51.100.0/24', shown].toSorted())
  await world.must('delete', 'service', 'own')
  assert.equal(await pools(), ['198.51.100.0/24', shown].toSorted())
  await world.must('delete', 'ipaddresspool', 'theirs', '-n', namespace)
})

test('what the API server refuses is told on the Service, and holds up no other', async () => {
  for (const object of noNewPools) await world.send(['create'], object)
  await eventually('the policy is in force', async () => {
    const { stderr } = await world.kubectl(['create', '--dry-run=server', '-f', '-'], pool('probe', '192.0.2.0/24'))
    return stderr.includes('no new pools') || undefined
  })
  const refused = await world.create(loadBalancer('refused'))
  await eventually('its Service says why', async () => (await events('refused')).includes('no new pools') || undefined)
  await world.must('delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', 'no-new-pools')
  await arePools(`${await addressOf('web')}/32`, `${refused.spec.loadBalancerIP}/32`)
  await world.must('delete', 'service', 'refused')
})

test("MetalLB's webhook that does not answer is outlasted: it is written when it is back", async () => {
  const clientConfig = { url: 'https://127.0.0.1:1/validate' }
  const rules = [{ ...resourceRules[0], operations: ['CREATE', 'UPDATE'], resources: ['*'] }]
  const name = 'metallb-webhook-configuration'
  const webhook = {
    name: 'pools.metallb.io',
    clientConfig,
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  const metadata = { name }
  await world.send(['create'], {
    apiVersion: admission,
    kind: 'ValidatingWebhookConfiguration',
    metadata,
    webhooks: [webhook],
  })
  const { spec } = await world.create(loadBalancer('patient'))
  await sleep(2_000)
  await arePools(`${await addressOf('web')}/32`)
  await world.must('delete', 'validatingwebhookconfiguration', name)
  await arePools(`${await addressOf('web')}/32`, `${spec.loadBalancerIP}/32`)
  await world.must('delete', 'service', 'patient')
})

test('an address goes back only when no pool has it any more', async () => {
  const { spec } = await world.create(loadBalancer('gone'))
  await arePools(`${await addressOf('web')}/32`, `${spec.loadBalancerIP}/32`)
  latency.set({ ms: 300 })
  calls.clear()
  await world.must('delete', 'service', 'gone', '--wait=false')
  const asked = () => calls.count(routes.release) > 0
  await eventually('its pool is gone', async () => {
    const has = (await pools()).includes(`${spec.loadBalancerIP}/32`)
    assert.not(has && asked(), 'the address was given back while a pool had it')
    return !has || undefined
  })
  await world.gone('gone')
  latency.set({ ms: 0 })
})

test('after the last Service everything of ours goes', async () => {
  await world.must('delete', 'service', 'web')
  await arePools()
  await arePeers()
  assert.equal(await there('bgpadvertisements'), [])
  assert.equal(
    world.reserved().filter(({ tags }) => tags.length > 0),
    [],
  )
})

test('the roles were enough, and no secret was told', async () => {
  await world.close()
})

test.run()
