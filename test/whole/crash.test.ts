// The process is killed at every step of claim, bind and release; the next one finishes the work.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ElasticIP } from '../../ledger/elastic-ip.ts'
import { type Moment, deaths, enters, ingressOf, onRecord, onService, statusOf } from './deaths.ts'
import { finalizer, loadBalancer } from './manifests.ts'
import { stretchTripwire } from './tripwire.ts'
import { openWorld, routes } from './world.ts'

const world = await openWorld()
// Whoever comes after a killed leader waits until its lease, and its questions to the cloud, have run out.
const patience = ['--cloud-timeout=2s', '--leader-elect-lease-duration=2s', '--leader-elect-renew-deadline=1500ms']
const running = {
  env: { METAL_METRO_NAME: 'da' },
  flags: [...patience, '--leader-elect-retry-period=300ms', '--unbound-grace=5s'],
}
const product = await world.startSwept(running)
const tripwire = await stretchTripwire(world)
const dieAt = deaths({ world, tripwire, running, product })

const whileCreating: Moment[] = [
  { name: 'the record is written', write: (write) => onRecord(write) && write.operation === 'CREATE' },
  { name: 'the cloud is asked for an address', call: routes.reserve, done: false },
  { name: 'the cloud has reserved an address, and nobody was told', call: routes.reserve, done: true },
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
  { name: 'the record says that the address is returned', write: (write) => statusOf(write)?.returnedAt !== undefined },
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

const liveServices = async () =>
  (JSON.parse(await world.must('get', 'services', '-o', 'json')) as { items: Service[] }).items.filter(
    ({ spec }) => spec.type === 'LoadBalancer',
  ).length

for (const [n, moment] of whileCreating.entries()) {
  test(`killed when ${moment.name}: the Service has its address in the end, and there is one`, async () => {
    const name = `create-${n}`
    await dieAt(moment, () => world.kubectl(['create', '-f', '-'], loadBalancer(name)))
    const address = await world.settled(name)
    assert.is(world.reserved().filter((one) => one.address === address).length, 1)
    assert.is(world.reserved().length, await liveServices())
  })
}

for (const [n, moment] of whileDeleting.entries()) {
  test(`killed when ${moment.name}: the Service goes, and its address with it`, async () => {
    const name = `create-${n}`
    const reserved = world.reserved().length
    await dieAt(moment, () => world.kubectl(['delete', 'service', name, '--wait=false']))
    await world.gone(name)
    assert.is(world.reserved().length, reserved - 1)
  })
}

test('what was run is taken down', async () => {
  await tripwire.close()
  await world.must('delete', 'validatingwebhookconfiguration', 'tripwire')
  await world.close()
})

test.run()
