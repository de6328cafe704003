// The process is killed at every step that an address in stock goes through; the next one finishes the work.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { type Moment, deaths, enters, onRecord, onRecordStatus, statusOf } from '../whole/deaths.ts'
import { eventually } from '../whole/eventually.ts'
import { chosen, loadBalancer } from '../whole/manifests.ts'
import { provisioned, warmNames } from '../whole/available-view.ts'
import { type Write, stretchTripwire } from '../whole/tripwire.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
// Whoever comes after a killed process waits until its questions to the cloud have run out, twice the time-out of one, and
// looks again when the grace of an unbound record is over; a lease would be one wait more.
const running = {
  env: { ...dialect.here, EIP_WARM_POOL: '1' },
  flags: ['--cloud-timeout=1s', '--leader-elect=false', '--unbound-grace=3s'],
}
const product = await world.startSwept(running)
const tripwire = await stretchTripwire(world)
const dieAt = deaths({ world, tripwire, running, product })

const [warmName = ''] = warmNames(dialect.place, 1)
const recordIn = ({ object, oldObject }: Write) => (object ?? oldObject) as ElasticIP
const isOf = (name: string) => (write: Write) => recordIn(write).metadata.name.startsWith(name)
const onWarm = (write: Write) => onRecord(write) && isOf(warmName)(write)
const onLent = (write: Write) => onRecord(write) && isOf('office')(write)
const onOwn = (write: Write) => onRecord(write) && isOf('default.')(write)
const losesFinalizer = ({ operation, object }: Write) => operation === 'UPDATE' && !object?.metadata.finalizers?.length
const sourceIn = (object: Write['object']) => (object as ElasticIP | null)?.spec.source
const takerIn = ({ object }: Write) => (object as ElasticIP | null)?.spec.claimRef?.elasticIPUID
const { mark } = dialect

const ofWarm: Moment[] = [
  {
    name: 'the record says which warm address it takes',
    write: (write) => onOwn(write) && write.operation === 'CREATE',
  },
  { name: 'the warm address says who takes it', write: (write) => onWarm(write) && takerIn(write) !== undefined },
  { name: 'the record has the address', write: enters('Reserved') },
  { name: 'the cloud is told whose it is', call: mark, done: false },
  { name: 'the cloud was told whose it is, and nobody heard so', call: mark, done: true },
  { name: 'the stock lets go of the address', write: (write) => onWarm(write) && losesFinalizer(write) },
  { name: 'the stock forgets the address', write: (write) => onWarm(write) && write.operation === 'DELETE' },
  {
    name: 'the record forgets the stock',
    write: (write) => onOwn(write) && sourceIn(write.oldObject) !== undefined && sourceIn(write.object) === undefined,
  },
  { name: 'the next warm address is written down', write: (write) => onWarm(write) && write.operation === 'CREATE' },
  {
    name: 'it is about to be asked for',
    write: (write) => onRecordStatus(write) && isOf('warm')(write) && statusOf(write)?.requestInFlight !== undefined,
  },
  { name: 'the cloud is asked for it', call: routes.reserve, done: false },
  { name: 'the cloud has reserved it, and nobody was told', call: routes.reserve, done: true },
  { name: 'it is there', write: enters('Available') },
]

const whileLending: Moment[] = [
  { name: 'the record says who lends to it', write: (write) => onOwn(write) && write.operation === 'CREATE' },
  { name: 'the lender says whom it lends to', write: (write) => onLent(write) && takerIn(write) !== undefined },
  { name: 'the record has the lent address', write: enters('Reserved') },
  { name: 'the lender sees it used', write: (write) => enters('Bound')(write) && isOf('office')(write) },
]

const whileReturning: Moment[] = [
  { name: 'the lent address is to go back', write: enters('Releasing') },
  { name: 'the record of the Service is let go', write: (write) => onOwn(write) && losesFinalizer(write) },
  { name: 'the record of the Service is deleted', write: (write) => onOwn(write) && write.operation === 'DELETE' },
  { name: 'the lender has it again', write: (write) => enters('Available')(write) && isOf('office')(write) },
  {
    name: 'the lender may lend it again',
    write: (write) => onLent(write) && write.operation === 'UPDATE' && takerIn(write) === undefined,
  },
]

const records = () => listAll(world.client, elasticIPs)
const liveServices = async () =>
  (await listAll(world.client, services)).filter(({ spec }) => spec.type === 'LoadBalancer')

const own = await world.order()

/** Every Service has an address of its own, one waits, the person has theirs, and nothing else is paid for or written down. */
function atRest(): Promise<true> {
  return eventually('each address is in one place', async (see) => {
    const [all, live] = [see(await records()), await liveServices()]
    const mine = all.filter(({ metadata }) => metadata.name.startsWith('default.'))
    const [warm] = all.filter(({ metadata }) => metadata.name.startsWith('warm-'))
    const plain = mine.filter(({ spec }) => spec.source?.type !== 'Provisioned')
    const paid = see(world.reserved().map(({ address }) => address))
    const isWhole =
      mine.length === live.length && plain.every(({ spec, status }) => !spec.source && status?.phase === 'Bound')
    const isWarm = warm?.status?.phase === 'Available' && !warm.spec.claimRef
    const isPaid = paid.length === plain.length + 2 && new Set(paid).size === paid.length
    return (isWhole && isWarm && isPaid) || undefined
  })
}

test('a provisioned address and a full warm pool are available', async () => {
  await world.kubectl(['apply', '-f', '-'], provisioned('office', own.id))
  await atRest()
})

for (const [n, moment] of ofWarm.entries()) {
  test(`killed when ${moment.name}: the Service has a warm address, the pool is full, and no address has two holders`, async () => {
    const name = `web-${n}`
    await dieAt(moment, () => world.kubectl(['create', '-f', '-'], loadBalancer(name)))
    await world.settled(name)
    await atRest()
  })
}

for (const [n, moment] of whileLending.entries()) {
  test(`killed when ${moment.name}: the Service has the provisioned address that it named`, async () => {
    const name = `lent-${n}`
    const manifest = loadBalancer(name, { annotations: { [chosen]: 'office' } })
    await dieAt(moment, () => world.kubectl(['create', '-f', '-'], manifest))
    assert.is(await world.settled(name), own.address)
    await atRest()
    await world.must('delete', 'service', name)
    await world.gone(name)
  })
}

for (const [n, moment] of whileReturning.entries()) {
  test(`killed when ${moment.name}: the provisioned address is available again`, async () => {
    const name = `back-${n}`
    const manifest = loadBalancer(name, { annotations: { [chosen]: 'office' } })
    await eventually(
      'it can be lent',
      async () => (await world.kubectl(['create', '-f', '-'], manifest)).code === 0 || undefined,
    )
    await world.settled(name)
    await dieAt(moment, () => world.kubectl(['delete', 'service', name, '--wait=false']))
    await world.gone(name)
    await eventually('it is Available', async (see) => {
      const office = see((await records()).find(({ metadata }) => metadata.name === 'office'))
      return (office?.status?.phase === 'Available' && !office.spec.claimRef) || undefined
    })
    await atRest()
  })
}

test.after(async () => {
  await tripwire.close()
  await world.must('delete', 'validatingwebhookconfiguration', 'tripwire')
  await world.close()
})

test.run()
