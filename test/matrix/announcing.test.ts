// MetalLB's configuration on a real API server: written, kept while the cloud cannot be read, withdrawn before the release.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { eventually, unchanging } from '../whole/eventually.ts'
import { ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { metallbView, poolManifest, sessionText } from '../whole/metallb-view.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const { startNode } = simulatedNodes(stage)
const { faults, calls, latency } = stage.cloud.control
const namespace = 'metallb-system'
const { provider, source } = dialect.bgp
const [{ version, setting } = { version: '0.16.1', setting: '' } as const] = dialect.bgp.metallb
const settings = {
  ...dialect.here,
  [dialect.loadBalancer]: setting,
  EIP_OWN_ADDRESS_RANGES: '198.51.100.0/24',
}
const metallb = metallbView(stage, version)

let product: Product | undefined

/** The source address of each machine. */
const sources = new Map<string, string>()
async function joins(name: string): Promise<void> {
  sources.set(name, ipOf(await startNode(name), 4, source))
}

const arePools = (...wanted: string[]) =>
  eventually(`the pools are ${wanted.join()}`, async (observe) => {
    return observe(await metallb.pools()).join() === wanted.toSorted().join() || undefined
  })
const arePeers = (...nodes: string[]) =>
  eventually(`the peers are those of ${nodes.join()}`, async (observe) => {
    const wanted = nodes.flatMap((node) =>
      provider.routers.map((router) =>
        sessionText({
          node,
          source: sources.get(node) ?? '',
          asn: provider.machines.asn,
          router,
          routerAsn: provider.asn,
        }),
      ),
    )
    return observe(await metallb.sessions()).join() === wanted.toSorted().join() || undefined
  })
const addressOf = async (name: string) => (await stage.service(name))?.spec.loadBalancerIP ?? ''
const events = (name: string) =>
  stage.run('get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].message}')

const admission = 'admissionregistration.k8s.io/v1'

/** The product runs with node-a and Service web; MetalLB is installed afterwards and has its pool and sessions. */
const announceWeb = once(async () => {
  await stage.run('create', 'namespace', namespace)
  product = await stage.startSwept({ env: settings })
  await joins('node-a')
  const created = await stage.create(loadBalancer('web'))
  assert.ok(created.spec.loadBalancerIP)
  await metallb.install()
  await arePools(`${created.spec.loadBalancerIP}/32`)
  await arePeers('node-a')
})

test('MetalLB that is installed after the product gets the pools and sessions that exist', announceWeb)

test('a node that joins gets its sessions, and a deleted node loses them', async () => {
  await announceWeb()
  await joins('node-b')
  await arePeers('node-a', 'node-b')
  await stage.run('delete', 'node', 'node-b')
  await arePeers('node-a')
})

test('while the provider refuses the key or does not answer, nothing that MetalLB reads changes, even after a restart', async () => {
  await announceWeb()
  const before = await unchanging('what MetalLB reads', () => metallb.versions())
  for (const answer of [401, 500, 'reset', 'empty-list'] as const) {
    faults.add({ answer })
    await product?.stop()
    product = await stage.serve({ env: { ...settings, EIP_PEER_REFRESH_INTERVAL: '1s' } })
    await eventually('the provider is called', () => faults.all().some(({ struck }) => struck > 2) || undefined)
    await sleep(1_500)
    faults.clear()
    assert.equal(await metallb.versions(), before, `nothing was written while the provider answered ${answer}`)
  }
})

test('the pool of an administrator stays, and an address in it gets no second pool', async () => {
  await announceWeb()
  await metallb.addPool('theirs', '198.51.100.0/24')
  const shown = `${await addressOf('web')}/32`
  await stage.create(loadBalancer('own', { spec: { loadBalancerIP: '198.51.100.7' } }))
  await sleep(1_000)
  assert.equal(await metallb.pools(), ['198.51.100.0/24', shown].toSorted())
  await stage.run('delete', 'service', 'own')
  assert.equal(await metallb.pools(), ['198.51.100.0/24', shown].toSorted())
  await metallb.removePool('theirs')
})

// The API server cannot refuse a single pool of a ConfigMap.
if (metallb.hasObjects) {
  test('a pool that the API server refuses is reported on its Service, and other pools are written', async () => {
    await announceWeb()
    for (const object of noNewPools()) await stage.send(['create'], object)
    await eventually('the policy is in force', async () => {
      const dryRun = ['create', '--dry-run=server', '-f', '-']
      const { stderr } = await stage.kubectl(dryRun, poolManifest('probe', '192.0.2.0/24'))
      return stderr.includes('no new pools') || undefined
    })
    const refused = await stage.create(loadBalancer('refused'))
    await eventually(
      'its Service says why',
      async () => (await events('refused')).includes('no new pools') || undefined,
    )
    await stage.run('delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', 'no-new-pools')
    await arePools(`${await addressOf('web')}/32`, `${refused.spec.loadBalancerIP}/32`)
    await stage.run('delete', 'service', 'refused')
  })
}

test('pools that a broken webhook of MetalLB blocks are written when the webhook no longer exists', async () => {
  await announceWeb()
  const webhook = {
    name: 'guard.metallb.io',
    clientConfig: { url: 'https://127.0.0.1:1/validate' },
    rules: [
      { apiGroups: ['metallb.io'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['*'] },
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
    ],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  const metadata = { name: 'metallb-webhook-configuration' }
  await stage.send(['create'], {
    apiVersion: admission,
    kind: 'ValidatingWebhookConfiguration',
    metadata,
    webhooks: [webhook],
  })
  const { spec } = await stage.create(loadBalancer('patient'))
  await eventually('its Service says why', async () => (await events('patient')).includes(webhook.name) || undefined)
  await arePools(`${await addressOf('web')}/32`)
  await stage.run('delete', 'validatingwebhookconfiguration', metadata.name)
  await arePools(`${await addressOf('web')}/32`, `${spec.loadBalancerIP}/32`)
  await stage.run('delete', 'service', 'patient')
})

test('an address is released only when no pool has it', async () => {
  await announceWeb()
  const { spec } = await stage.create(loadBalancer('gone'))
  await arePools(`${await addressOf('web')}/32`, `${spec.loadBalancerIP}/32`)
  latency.set({ ms: 300 })
  calls.clear()
  await stage.run('delete', 'service', 'gone', '--wait=false')
  await eventually('its pool no longer exists', async () => {
    const wasAsked = stage.calls(routes.release) > 0
    const has = (await metallb.pools()).includes(`${spec.loadBalancerIP}/32`)
    assert.not(has && wasAsked, 'the address was given back while a pool had it')
    return !has || undefined
  })
  await stage.gone('gone')
  latency.set({ ms: 0 })
})

test('after the last Service is deleted nothing that we wrote is left in what MetalLB reads', async () => {
  await announceWeb()
  await stage.run('delete', 'service', 'web')
  await arePools()
  await arePeers()
  assert.equal(await metallb.left(), [])
  // Management addresses have no tags.
  const ordered = stage.reserved().filter(({ tags }) => tags.length > 0)
  assert.equal(ordered, [])
})

test.after(() => stage.close())

test.run()

/** A policy by which the API server refuses new pools. */
function noNewPools(): object[] {
  const metadata = { name: 'no-new-pools' }
  const resourceRules = [
    { apiGroups: ['metallb.io'], apiVersions: ['*'], operations: ['CREATE'], resources: ['ipaddresspools'] },
  ]
  const spec = {
    matchConstraints: { resourceRules },
    validations: [{ expression: 'false', message: 'no new pools' }],
  }
  const binding = { policyName: metadata.name, validationActions: ['Deny'] }
  return [
    { apiVersion: admission, kind: 'ValidatingAdmissionPolicy', metadata, spec },
    { apiVersion: admission, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  ]
}
