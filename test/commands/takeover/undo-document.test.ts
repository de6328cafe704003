// Undo writes the peers in MetalLB's ConfigMap as the predecessor would: each node loses its sessions for a moment, never
// all at once.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metallbDocument, recount } from '../../../announcers/metallb/document.ts'
import { documentStep } from '../../../commands/takeover/undo/document-step.ts'
import type { UndoWork } from '../../../commands/takeover/undo/undo-steps.ts'
import { sessionPauseMs } from '../../../controllers/announcing/plan-runner.ts'
import type { ConfigMap } from '../../../kube/objects.ts'
import { configMaps, services } from '../../../kube/resource.ts'
import { makeNode } from '../../announcers/states.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const at = { namespace: 'metallb-system', name: 'config' }
const served = ['default/late', 'default/web']

const cases = [
  { predecessor: 'equinix-metal', counting: 'nomatch.metal.equinix.com', services: served },
  { predecessor: 'packet', counting: 'nomatch.packet.com', services: undefined },
]

for (const { predecessor, counting, services: counted } of cases)
  test(`${predecessor}: between two waves of sessions the first ones have time to come up`, async () => {
    const api = apiServer()
    const announced = {
      addresses: [{ address: '198.51.100.7', services: ['default/web'] }],
      nodes: ['a', 'b'].map((name) => makeNode(name)),
    }
    const { document } = metallbDocument({ ...at, counting }).edit('', announced)
    api.put<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { config: document } })
    for (const name of ['late', 'web'])
      api.put(services, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'default', name },
        spec: { type: 'LoadBalancer', loadBalancerIP: '198.51.100.7' },
      })
    const clock = fakeClock()
    const { signal } = new AbortController()
    const found = {
      predecessor,
      workloads: [],
      document: at,
      services: Object.fromEntries(served.map((key) => [key, { address: '198.51.100.7', finalizers: [] }])),
    }
    const work = { client: api.client, found, signal, clock, check: () => Promise.resolve() }
    const step = documentStep(work as unknown as UndoWork)
    const left = async () => {
      const map = await api.client.get<ConfigMap>(configMaps, at, { signal })
      return recount(map?.data?.['config'] ?? '', { counting, services: counted }).peers.length
    }
    const all = await left()
    assert.match((await step.missing())?.text ?? '', `left: ${all} peers`)
    const acting = step.act?.()
    await clock.pass(sessionPauseMs - 1)
    const afterOne = await left()
    assert.ok(afterOne > 0 && afterOne < all, `the second wave waits for the pause: ${afterOne} of ${all} are left`)
    await clock.pass(all * sessionPauseMs)
    await acting
    assert.is(await left(), 0)
    assert.is(await step.missing(), undefined)
  })

test.run()
