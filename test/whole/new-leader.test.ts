// A replica whose watches have fallen silent takes the lease, and does not withdraw anything that it has not heard of.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpPeers, ipAddressPools } from '../../announcers/metallb/resources.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { serviceAccountUser } from '../../settings/installed-names.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { metallbView } from './metallb-view.ts'
import { silencedWatches } from './silenced-watches.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const proxy = await silencedWatches(stage.controlPlane.url)
const { startNode } = simulatedNodes(stage)
const namespace = 'metallb-system'
await stage.run('create', 'namespace', namespace)
const metallb = metallbView(stage, '0.16.1')
await metallb.install()
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: `metallb:///${namespace}?crdConfiguration=true` }

/** Writes the kubeconfig of the product, which goes through the proxy. */
function writeKubeconfig(): string {
  const text = readFileSync(stage.controlPlane.kubeconfigFor(serviceAccountUser('eip-admission')), 'utf8')
  const config = JSON.parse(text) as { clusters: { cluster: object }[] }
  for (const one of config.clusters) one.cluster = { server: proxy.url, 'insecure-skip-tls-verify': true }
  const file = join(stage.dir, 'by-way-of-the-proxy.kubeconfig')
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** The pools and the sessions. A recreated one differs. */
async function announced(): Promise<string[]> {
  const list = async (resource: Resource<KubeObject>) => (await stage.client.list(resource, { namespace })).items
  const all = [...(await list(ipAddressPools)), ...(await list(bgpPeers))]
  return all.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`)
}

/** A process that leads as soon as it starts has more recent lists than this. */
const longAgoMs = 2_000

test('a new leader with silent watches keeps the pool of a Service and the sessions of a node', async () => {
  const first = await stage.startSwept({ env })
  const next = await stage.serve({ env, flags: ['--only=controllers', `--kubeconfig=${writeKubeconfig()}`] })
  await eventually('it watches', (observe) => {
    const watched = observe(proxy.watched())
    return ['services', 'elasticips', 'nodes'].every((kind) => watched.includes(kind)) || undefined
  })
  proxy.silence()
  const listedMs = performance.now()
  await startNode('unheard-of')
  await stage.create(loadBalancer('unheard-of'))
  const before = await eventually('the pool and the sessions are there', async (observe) => {
    const all = observe(await announced())
    return all.length === 3 ? all : undefined
  })
  await eventually('its lists are old', () => performance.now() - listedMs > longAgoMs || undefined)
  await first.stop()
  await stage.create(loadBalancer('later'))
  await eventually('the new leader announces', async (observe) => {
    const now = observe(await announced())
    for (const one of before) assert.ok(now.includes(one), `${one} no longer exists`)
    const { spec } = (await stage.service('later')) ?? {}
    return (await metallb.pools()).includes(`${spec?.loadBalancerIP}/32`) || undefined
  })
  // A reconcile counts only when it has ended.
  await eventually('it leads, and its controllers have reconciled', async (observe) => {
    const { text } = await next.health('/metrics')
    const shown = ['announcing', 'node-peering'].map((controller) => text.includes(`controller="${controller}"`))
    return observe([/^eip_admission_leader 1$/m.test(text), ...shown]).every(Boolean) || undefined
  })
  assert.equal((await announced()).filter((one) => before.includes(one)).length, before.length)
})

test.after(() => stage.close(proxy))

test.run()
