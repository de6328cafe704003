// The process is killed at steps of the claim and of the release of the second address; the next process finishes the work.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ingressOf as shownOf } from '../../kube/objects.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { eventually } from './eventually.ts'
import { type Moment, enters, ingressOf, onRecord, onService, processKiller, statusOf } from './kill-at.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'
import { type Write, interceptWrites } from './write-interceptor.ts'

const stage = await openStage({ dialect: 'hetzner', serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'] })
const env = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'empty://' }
const running = { env, flags: ['--cloud-timeout=1s', '--leader-elect=false', '--unbound-grace=5s'] }
const product = await stage.startSwept(running)
const interceptor = await interceptWrites(stage)
const killAt = processKiller({ stage, interceptor, running, product })

/**
 * Every address that the project pays for. For IPv6 the cloud shows the network, whose first address the Service has.
 */
const reserved = () =>
  stage.cloud.control.reservations.all().map(({ id, ip }) => ({ id, address: String(ip).replace(/::\/64$/, '::1') }))

const ofSecond = (is: (write: Write) => boolean) => (write: Write) =>
  write.object?.metadata.name.endsWith('.ipv6') === true && is(write)
const both = { spec: { ipFamilyPolicy: 'RequireDualStack' } }

/** The addresses that a Service shows, once both its records hold them. */
const settled = (name: string) =>
  eventually(`${name} shows two addresses`, async () => {
    const [service, one, other] = await Promise.all([
      stage.service(name),
      stage.record(name),
      stage.record(`${name}.ipv6`),
    ])
    const bound = [one, other].filter((record) => record?.status?.phase === 'Bound')
    const held = bound.flatMap((record) => record?.status?.address ?? [])
    const shown = service ? shownOf(service).flatMap(({ ip }) => ip ?? []) : []
    return held.length === 2 && shown.join() === held.join() ? held : undefined
  })

const gone = (name: string) =>
  eventually(`${name} and its records no longer exist`, async () => {
    const all = await Promise.all([stage.service(name), stage.record(name), stage.record(`${name}.ipv6`)])
    return all.every((one) => one === undefined) || undefined
  })

const whileClaiming: Moment[] = [
  { name: 'the second record is written', write: ofSecond((write) => onRecord(write) && write.operation === 'CREATE') },
  { name: 'the second record gets its address', write: ofSecond(enters('Reserved')) },
  {
    name: 'the second record gets the uid of its Service',
    write: ofSecond((write) => onRecord(write) && (write.object as ElasticIP | null)?.spec.claimRef?.uid !== undefined),
  },
  { name: 'the second record is bound', write: ofSecond(enters('Bound')) },
  { name: 'the Service shows both addresses', write: (write) => onService(write) && ingressOf(write).length === 2 },
]

const whileReleasing: Moment[] = [
  { name: 'the release of the second begins', write: ofSecond(enters('Releasing')) },
  {
    name: 'the second record says that the deletion was requested',
    write: ofSecond((write) => statusOf(write)?.deletionRequestedAt !== undefined),
  },
]

for (const [n, moment] of whileClaiming.entries()) {
  test(`killed when ${moment.name}: the Service has exactly two addresses in the end`, async () => {
    const before = reserved()
    await killAt(moment, () => stage.kubectl(['create', '-f', '-'], loadBalancer(`claiming-${n}`, both)))
    const addresses = await settled(`claiming-${n}`)
    const bought = reserved().filter(({ id }) => before.every((one) => one.id !== id))
    const paid = bought.map(({ address }) => address)
    assert.is(addresses.filter((address) => !paid.includes(address)).join(), '')
    assert.is(paid.length, 2)
  })
}

for (const [n, moment] of whileClaiming.slice(0, 2).entries()) {
  test(`killed when ${moment.name} at an update: the Service has exactly two addresses in the end`, async () => {
    const before = reserved()
    const name = `updating-${n}`
    await stage.create(loadBalancer(name))
    const first = await stage.settled(name)
    await killAt(moment, () => stage.kubectl(['patch', 'service', name, '-p', JSON.stringify(both)]))
    assert.is((await settled(name))[0], first)
    assert.is(reserved().length, before.length + 2)
  })
}

for (const [n, moment] of whileReleasing.entries()) {
  test(`killed when ${moment.name}: the Service and both reservations are deleted`, async () => {
    const name = `releasing-${n}`
    const before = reserved()
    await stage.create(loadBalancer(name, both))
    await settled(name)
    await killAt(moment, () => stage.kubectl(['delete', 'service', name, '--wait=false']))
    await gone(name)
    assert.equal(reserved(), before)
  })
}

test('killed when a Service gives its second address back: it is given back, and the first stays', async () => {
  const before = reserved()
  await stage.create(loadBalancer('single', both))
  const [first] = await settled('single')
  const patch = JSON.stringify({ spec: { ipFamilyPolicy: 'SingleStack' } })
  const hidden: Moment = {
    name: 'the status shows one address',
    write: (write) => onService(write) && ingressOf(write).length === 1,
  }
  await killAt(hidden, () => stage.kubectl(['patch', 'service', 'single', '-p', patch]))
  await eventually('one is left', () => reserved().length === before.length + 1 || undefined)
  const service = await stage.service('single')
  assert.equal([service?.spec.loadBalancerIP, service && shownOf(service).map(({ ip }) => ip)], [first, [first]])
})

test.after(async () => {
  await interceptor.close()
  await stage.run('delete', 'validatingwebhookconfiguration', 'write-interceptor')
  await stage.close()
})

test.run()
