import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { peerFacts } from '../../../controllers/facts/peer-facts.ts'
import { prefixLimit, prefixLimitController, prefixLimitKey } from '../../../controllers/peering/prefix-limit.ts'
import { events, nodes } from '../../../kube/resource.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { eventRecorders } from '../../../telemetry/event-recorders.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { recordedLog } from '../../kube/recorded-log.ts'
import { makeNode } from '../nodes/builders.ts'
import { makeFact } from './builders.ts'

const { signal } = new AbortController()

test('too many addresses cause one warning, and another one after the number was below the limit', async () => {
  const warnings: string[] = []
  const cluster = { addresses: 0 }
  const limit = prefixLimit({
    countAnnounced: () => cluster.addresses,
    max: 10,
    warn: (text) => void warnings.push(text),
  })
  const counts: [addresses: number, warnings: number][] = [
    [10, 0],
    [11, 1],
    [12, 1],
    [10, 1],
    [11, 2],
  ]
  for (const [addresses, expected] of counts) {
    cluster.addresses = addresses
    await limit.reconcile(prefixLimitKey, signal)
    assert.is(warnings.length, expected, `${addresses} addresses`)
  }
  assert.match(warnings[0] ?? '', /^11 addresses are announced, but the provider's routers accept 10 from a node/)
})

type Deps = Parameters<typeof prefixLimitController>[0]

/** A cluster that announces so many addresses from two of its three nodes, and whose routers accept one from each. */
function makeCluster(addresses: number) {
  const api = apiServer()
  for (const n of [1, 2, 3]) api.put(nodes, makeNode({ name: `worker-${n}` }))
  const facts = peerFacts()
  for (const n of [1, 2]) facts.set(makeFact({ node: `worker-${n}` }))
  const services = Array.from({ length: addresses }, (_, n) =>
    makeService({ name: `web-${n}`, loadBalancerIP: `203.0.113.${n}` }),
  )
  const records = new Map(
    services.map(({ metadata, spec }): [string, ElasticIP] => [
      `default.${metadata.name}`,
      makeRecord({ phase: 'Bound', address: spec.loadBalancerIP ?? '' }),
    ]),
  )
  const log = recordedLog()
  const recorders = eventRecorders({ client: api.client, instance: 'one', log })
  const wanted: Want = { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] }
  const deps = {
    caches: {
      services: { list: () => services },
      records: { get: (name: string) => records.get(name) },
      nodes: { get: (name: string) => api.stored(nodes).find(({ metadata }) => metadata.name === name) },
    },
    want: () => wanted,
    peerFacts: facts,
    vendor: { bgp: { isOn: true, maxPrefixes: 1 }, peering: {} },
    events: recorders,
    log,
  } as unknown as Deps
  return { deps, log, api, recorders }
}

for (const [addresses, warned] of [
  [1, []],
  [2, ['worker-1', 'worker-2']],
] as const)
  test(`with ${addresses} addresses where one is accepted, ${warned.length} nodes that announce get the Event`, async () => {
    const { deps, log, api, recorders } = makeCluster(addresses)
    for (const { reconciler } of prefixLimitController(deps)) await reconciler.reconcile(prefixLimitKey, signal)
    await recorders.written()
    const message =
      "2 addresses are announced, but the provider's routers accept 1 from a node, and end its session permanently if it " +
      'sends more: delete some Services, or have the vendor raise the limit'
    assert.equal(
      api.stored(events).map((one) => [one.involvedObject.kind, one.involvedObject.name, one.type, one.reason]),
      warned.map((name) => ['Node', name, 'Warning', 'TooManyAddresses']),
    )
    for (const event of api.stored(events)) assert.is(event.message, message)
    assert.equal(
      log.lines.map(({ fields }) => fields['warning']),
      warned.length > 0 ? [message] : [],
    )
  })

for (const [what, vendor] of [
  ['without BGP', { bgp: { isOn: false, maxPrefixes: 1 }, peering: {} }],
  ['without a known limit', { bgp: { isOn: true, maxPrefixes: undefined }, peering: {} }],
  ['where the provider has no peering', { bgp: { isOn: true, maxPrefixes: 1 }, peering: undefined }],
] as const)
  test(`nothing is counted ${what}`, () =>
    assert.equal(prefixLimitController({ ...makeCluster(2).deps, vendor: vendor as unknown as Deps['vendor'] }), []))

test.run()
