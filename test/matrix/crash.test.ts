// The process is killed at every step of claim, bind and release; the next one finishes the work.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { type Moment, deaths, enters, ingressOf, onRecord, onService, statusOf } from '../whole/deaths.ts'
import { finalizer, loadBalancer } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { type Write, stretchTripwire } from '../whole/tripwire.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
// Whoever comes after a killed process waits until its questions to the cloud have run out; a lease would be one wait more.
const running = { env: dialect.here, flags: ['--cloud-timeout=2s', '--leader-elect=false', '--unbound-grace=5s'] }
const product = await world.startSwept(running)
const tripwire = await stretchTripwire(world)
const dieAt = deaths({ world, tripwire, running, product })

const whileAsking: Moment[] = [
  { name: 'the record is written', write: (write) => onRecord(write) && write.operation === 'CREATE' },
  { name: 'the cloud is asked for an address', call: routes.reserve, done: false },
  { name: 'the cloud has reserved an address, and nobody was told', call: routes.reserve, done: true },
]

const whileBinding: Moment[] = [
  { name: 'the answer is written down', write: enters('Reserved') },
  {
    name: 'the Service is stored',
    write: ({ resource, operation }) => resource.resource === 'services' && operation === 'CREATE',
  },
  {
    name: 'the record learns its Service',
    write: (write) => onRecord(write) && (write.object as ElasticIP | null)?.spec.claimRef?.uid !== undefined,
  },
  { name: 'the record is bound', write: enters('Bound') },
  { name: 'the Service shows the address', write: (write) => onService(write) && ingressOf(write).length > 0 },
]

const whileDeleting: Moment[] = [
  {
    name: 'the Service stops showing the address',
    write: (write) => onService(write) && ingressOf(write).length === 0,
  },
  { name: 'the release is begun', write: enters('Releasing') },
  {
    name: 'the record says that the address is returned',
    write: (write) => statusOf(write)?.deletionRequestedAt !== undefined,
  },
  { name: 'the cloud is told to delete the reservation', call: routes.release, done: false },
  { name: 'the cloud has deleted the reservation, and nobody was told', call: routes.release, done: true },
  {
    name: 'the record loses its finalizer',
    write: (write) => onRecord(write) && write.operation === 'UPDATE' && !write.object?.metadata.finalizers?.length,
  },
  { name: 'the record is deleted', write: (write) => onRecord(write) && write.operation === 'DELETE' },
  {
    name: 'the Service may go',
    write: (write) => onService(write) && !write.object?.metadata.finalizers?.includes(finalizer),
  },
]

const isAside = ({ object }: Write) => object?.metadata.name.startsWith('releasing-') === true
const whileReturning: Moment[] = [
  {
    name: 'what the cloud is slow to delete is set aside',
    write: (write) => onRecord(write) && isAside(write) && write.operation === 'CREATE',
  },
  { name: 'it is written down as returned', write: (write) => isAside(write) && enters('Releasing')(write) },
]

const creating = (name: string) => () => world.kubectl(['create', '-f', '-'], loadBalancer(name))

for (const [n, moment] of whileAsking.entries()) {
  test(`killed when ${moment.name}`, () => dieAt(moment, creating(`asking-${n}`)))
}

test('each of the Services of a killed process has one address in the end', async () => {
  const addresses = await Promise.all(whileAsking.map((_moment, n) => world.settled(`asking-${n}`)))
  const reserved = world.reserved().map(({ address }) => address)
  assert.equal([reserved.length, new Set(reserved)], [addresses.length, new Set(addresses)])
})

for (const [n, moment] of whileBinding.entries()) {
  test(`killed when ${moment.name}: the Service has exactly one address in the end`, async () => {
    const before = world.reserved()
    await dieAt(moment, creating(`binding-${n}`))
    const address = await world.settled(`binding-${n}`)
    const bought = world.reserved().filter(({ id }) => before.every((one) => one.id !== id))
    assert.equal(
      bought.map((one) => one.address),
      [address],
    )
  })
}

const settled = [...whileAsking.map((_moment, n) => `asking-${n}`), ...whileBinding.map((_moment, n) => `binding-${n}`)]

for (const [n, moment] of whileDeleting.entries()) {
  test(`killed when ${moment.name}: the Service and its reservation are deleted`, async () => {
    const name = settled[n] ?? ''
    const address = shownIn(await world.service(name))
    const before = world.reserved()
    await dieAt(moment, () => world.kubectl(['delete', 'service', name, '--wait=false']))
    await world.gone(name)
    assert.equal(
      world.reserved(),
      before.filter((one) => one.address !== address),
    )
  })
}

for (const [n, moment] of whileReturning.entries()) {
  test(`killed when ${moment.name}: the Service is deleted, and no other Service gets its address`, async () => {
    const name = `slow-${n}`
    world.cloud.door.setDeletion({ reservationsMs: 60_000 })
    const { spec } = await world.create(loadBalancer(name))
    await world.settled(name)
    await dieAt(moment, () => world.kubectl(['delete', 'service', name, '--wait=false']))
    await world.gone(name)
    assert.equal(world.reserved(), [])
    assert.is.not((await world.create(loadBalancer(name))).spec.loadBalancerIP, spec.loadBalancerIP)
    await world.settled(name)
    await world.must('delete', 'service', name, '--wait=false')
    await world.gone(name)
  })
}

test.after(async () => {
  await tripwire.close()
  await world.must('delete', 'validatingwebhookconfiguration', 'tripwire')
  await world.close()
})

test.run()
