// A tenant changes the types of Services endlessly, so that their addresses leave their machines and return. This costs
// few calls, and leaves the provider's rate limit to others.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { namespaces, services } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer, reclaim } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const account = await dialects.hetzner.open()
const stage = await openStage({ dialect: 'hetzner', account })
const { control } = stage.cloud
const { startNode, say } = simulatedNodes(stage)
const namespace = 'flips'
const names = Array.from({ length: 10 }, (_, n) => `flip-${n}`)
const unassign = 'POST /floating_ips/{id}/actions/unassign'
/**
 * Each address may leave its machine needlessly once an hour; five addresses of a namespace at once, and then one a
 * minute.
 */
const mostUnassigned = (ms: number) => names.length + 5 + Math.ceil(ms / 60_000)

test('an address leaves its dead node while a tenant flips ten Services, whose addresses seldom leave their machines', async () => {
  await stage.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  // The machines do not exist, so no probe may be sent to their addresses.
  await stage.startSwept({ env: { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' } })
  const [a, b] = [await startNode('a'), await startNode('b')]
  await say('b', 'Unknown')
  await stage.create(loadBalancer('victim'))
  const annotations = { [reclaim]: 'Retain' }
  for (const name of names) {
    const service = loadBalancer(name) as Service
    await stage.client.create(services, { ...service, metadata: { ...service.metadata, namespace, annotations } })
  }
  const shown = async (name: string, of = namespace) =>
    shownIn(await stage.client.get(services, { namespace: of, name }))
  for (const name of names) await eventually(`${name} shows its address`, () => shown(name))
  const address = await eventually('the victim shows its address', () => shown('victim', 'default'))
  assert.is(control.route(address), a.id)

  control.calls.clear()
  const began = performance.now()
  let rounds = 0
  const ending = new AbortController()
  const flipping = (async () => {
    for (; !ending.signal.aborted; rounds += 1)
      for (const type of ['ClusterIP', 'LoadBalancer']) {
        await Promise.all(
          names.map((name) => stage.client.patch(services, { namespace, name, patch: { merge: { spec: { type } } } })),
        )
        await sleep(500)
      }
  })()
  await eventually('its types were changed often', () => rounds >= 20 || undefined, 120_000)
  await say('b', 'True')
  await say('a', 'Unknown')
  await eventually('the address of the victim leads to b', () => control.route(address) === b.id || undefined)
  ending.abort()
  await flipping
  const count = control.calls.count(unassign)
  assert.ok(count <= mostUnassigned(performance.now() - began), `${count} addresses left their machines`)
})

test.after(async () => {
  await stage.close()
  await account.cloud.close()
})

test.run()
