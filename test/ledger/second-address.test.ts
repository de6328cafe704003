// The ledger and the Service controller together, where a change of a Service that no review completed decides about its
// second address.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty, emptySoftware } from '../../announcers/empty.ts'
import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { makeService } from '../builders.ts'
import { makeHarness, neverAborted, scheme, timeoutMs, usualPolicy } from './harness.ts'

const key = 'default/web'
const six = 'default/web.ipv6'
const [first, second] = ['203.0.113.1', '2001:db8::2']
const policy = { ...usualPolicy, isDualStack: true }
const required = { ipFamilyPolicy: 'RequireDualStack' } as const
const preferred = { ipFamilyPolicy: 'PreferDualStack' } as const

/** A Service that has both its addresses. */
async function stage(families: typeof required | typeof preferred = required) {
  const harness = makeHarness({ scheme, sweepsUntagged: false, policy })
  harness.setAdoptionMark()
  const process = harness.alone('a')
  harness.addService(makeService({ ...families, ipFamilies: ['IPv4', 'IPv6'] }))
  for (const one of [key, six, key]) await process.reconcile(one)
  const stored = () => harness.api.stored(services).find((one) => keyOf(one) === key)
  const shown = () => ingressOf(stored() ?? {}).map(({ ip }) => ip)
  assert.equal(shown(), [first, second])
  return { harness, process, stored, shown, change: (by: Change) => harness.addService(by(stored() as Service)) }
}

type Change = (service: Service) => Service

/** Without the annotation that says that the address is ours, as after a PUT of what a user wrote. */
const unannotated: Change = ({ metadata: { annotations: _ours, ...metadata }, ...service }) => ({
  ...service,
  metadata,
})
const naming =
  (loadBalancerIP: string): Change =>
  (service) => ({ ...service, spec: { ...service.spec, loadBalancerIP } })
/** As an earlier version served it: its first address is of its second family. PUT without annotation and field. */
const upgraded: Change = (service) => {
  const { loadBalancerIP: _ours, ...spec } = service.spec
  return { ...unannotated(service), spec: { ...spec, ipFamilies: ['IPv6', 'IPv4'] } }
}

for (const { name, change } of [
  { name: 'the annotation of its first address', change: unannotated },
  { name: 'annotation and field, though its families are in another order', change: upgraded },
]) {
  test(`a Service that lost ${name} keeps both`, async () => {
    const { harness, process, shown, stored, change: apply } = await stage()
    apply(change)
    const bought = harness.cloud.bought.length
    for (const one of [six, six, 'default/web.ipv4']) {
      await process.reconcile(one)
      assert.equal([shown(), harness.record(six)?.status?.phase], [[first, second], 'Bound'])
    }
    await process.reconcile(key)
    assert.is(stored()?.metadata.annotations?.[addressAnnotation], first)
    for (const one of [six, 'default/web.ipv4', key]) await process.reconcile(one)
    assert.equal(shown(), [first, second])
    assert.equal([harness.cloud.released, harness.cloud.bought.length], [[], bought])
  })

  test(`a release that began before the Service lost ${name} ends as kept`, async () => {
    const { harness, process, change: apply } = await stage()
    await process.deps.records.writeStatus(harness.record(six) as ElasticIP, { phase: 'Releasing' })
    apply(change)
    assert.is(await process.release(six), 'kept')
    assert.equal([harness.record(six)?.status?.phase, harness.cloud.released], ['Bound', []])
  })
}

test('a Service that gets a user-chosen address releases both', async () => {
  const { harness, process, stored, shown, change } = await stage()
  change((service) => naming('198.51.100.9')(unannotated(service)))
  await process.reconcile(six)
  assert.equal([shown(), harness.cloud.released], [[first], ['res-2']])
  await process.reconcile(key)
  assert.equal([shown(), stored()?.spec.loadBalancerIP], [['198.51.100.9'], '198.51.100.9'])
  assert.equal([harness.cloud.released, harness.api.stored(elasticIPs)], [['res-2', 'res-1'], []])
})

test('so does a Service that is deleted without the annotation of its first address', async () => {
  const { harness, process, stored, change } = await stage()
  change(unannotated)
  await harness.api.client.remove(services, { namespace: 'default', name: 'web' })
  for (const one of [six, key]) await process.reconcile(one)
  assert.equal([harness.cloud.released, harness.api.stored(elasticIPs), stored()], [['res-2', 'res-1'], [], undefined])
})

test('a Service of one family that lost the annotation keeps only its first address', async () => {
  const { harness, process, stored, shown, change } = await stage()
  change((service) => {
    const { metadata, spec, ...others } = unannotated(service)
    return { ...others, metadata, spec: { ...spec, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] } }
  })
  for (const one of [six, key, six]) await process.reconcile(one)
  assert.equal([shown(), stored()?.metadata.annotations?.[addressAnnotation]], [[first], first])
  assert.equal(harness.cloud.released, ['res-2'])
})

type Lose = (of: Pick<Awaited<ReturnType<typeof stage>>, 'harness'>) => void
const loseRecord: Lose = ({ harness }) => harness.api.drop(elasticIPs, { name: 'default.web.ipv6' })
const loseStatus: Lose = ({ harness }) => {
  const { status: _lost, ...restored } = harness.record(six) as ElasticIP
  loseRecord({ harness })
  harness.api.put(elasticIPs, restored)
}
for (const { name, lose } of [
  { name: 'has no record', lose: loseRecord },
  { name: 'has a record without its status', lose: loseStatus },
]) {
  test(`a Service shows its second address all the time while that ${name}`, async () => {
    const { harness, process, shown } = await stage()
    lose({ harness })
    harness.cloud.unreadable = true
    const reconcile = async (...keys: string[]) => {
      for (const one of keys) {
        await process.reconcile(one).catch(() => undefined)
        assert.equal(shown(), [first, second])
      }
    }
    await reconcile(key, six, key)
    harness.advance(timeoutMs + 1_000)
    await reconcile(six, key)
    harness.cloud.unreadable = false
    harness.advance(timeoutMs + 1_000)
    await reconcile(key, six, key)
    assert.equal([harness.record(six)?.status?.address, harness.record(six)?.status?.phase], [second, 'Bound'])
    assert.equal([harness.cloud.released, harness.cloud.bought.length], [[], 2])
  })
}

/** A process whose load balancer setting gives one address. */
const oneAddress = {
  announcer: empty({ ipAnnotation: 'example.com/ip' }),
  policy: {
    isDualStack: false,
    matchesFamilies: false,
    requestAnnotations: emptySoftware.requests({ kind: 'empty', ipAnnotation: 'example.com/ip' }),
  },
}

for (const families of [required, preferred]) {
  test(`a setting that gives one address takes none from a Service of ${families.ipFamilyPolicy}`, async () => {
    const { harness, process, stored, shown } = await stage(families)
    const changed = harness.alone('b', oneAddress)
    for (const one of [six, key, six]) await changed.reconcile(one)
    for (let n = 0; n < 3; n += 1) {
      await changed.sweep(neverAborted)
      harness.advance(16 * 60_000)
    }
    const holds = () => [shown(), harness.record(six)?.status?.phase, harness.cloud.released]
    assert.equal(holds(), [[first, second], 'Bound', []])
    assert.is(stored()?.metadata.annotations?.['example.com/ip'], first)
    for (const one of [six, key]) await process.reconcile(one)
    assert.equal([holds(), harness.cloud.bought.length], [[[first, second], 'Bound', []], 2])
  })
}

test('a release that began before such a setting ends as kept', async () => {
  const { harness, process } = await stage(preferred)
  await process.deps.records.writeStatus(harness.record(six) as ElasticIP, { phase: 'Releasing' })
  assert.is(await harness.alone('b', oneAddress).release(six), 'kept')
  assert.equal([harness.record(six)?.status?.phase, harness.cloud.released], ['Bound', []])
})

test('there, a Service that wants one family releases its second address', async () => {
  const { harness, shown, change } = await stage(preferred)
  const changed = harness.alone('b', oneAddress)
  change(({ spec, ...service }) => ({
    ...service,
    spec: { ...spec, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
  }))
  for (const one of [six, key]) await changed.reconcile(one)
  assert.equal([shown(), harness.cloud.released], [[first], ['res-2']])
})

test.run()
