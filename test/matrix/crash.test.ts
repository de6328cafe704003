// The process is killed at each step of claim, bind and release; the next process finishes the work.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { type Moment, processKiller, enters, ingressOf, onRecord, onService, statusOf } from '../whole/kill-at.ts'
import { finalizer, loadBalancer } from '../whole/manifests.ts'
import { type Write, interceptWrites } from '../whole/write-interceptor.ts'
import { dialect, isCloudOnly, openStage, routes } from './dialect.ts'

const stage = await openStage()
// The next process waits until the killed one's requests in flight have timed out. A lease would add another wait.
const running = { env: dialect.here, flags: ['--cloud-timeout=1s', '--leader-elect=false', '--unbound-grace=5s'] }
const product = await stage.startSwept(running)
const interceptor = await interceptWrites(stage)
const killAt = processKiller({ stage, interceptor, running, product })

const whileClaiming: Moment[] = [
  { name: 'the record is written', write: (write) => onRecord(write) && write.operation === 'CREATE' },
  { name: 'the provider gets the reserve request', call: routes.reserve, done: false },
  { name: 'the provider has reserved an address and not answered', call: routes.reserve, done: true },
  { name: 'the record gets the address', write: enters('Reserved') },
  {
    name: 'the Service is stored',
    write: ({ resource, operation }) => resource.resource === 'services' && operation === 'CREATE',
  },
  {
    name: 'the record gets the uid of its Service',
    write: (write) => onRecord(write) && (write.object as ElasticIP | null)?.spec.claimRef?.uid !== undefined,
  },
  { name: 'the record is bound', write: enters('Bound') },
  { name: 'the Service shows the address', write: (write) => onService(write) && ingressOf(write).length > 0 },
]

const whileReleasing: Moment[] = [
  {
    name: 'the Service stops showing the address',
    write: (write) => onService(write) && ingressOf(write).length === 0,
  },
  { name: 'the release begins', write: enters('Releasing') },
  {
    name: 'the record says that the deletion was requested',
    write: (write) => statusOf(write)?.deletionRequestedAt !== undefined,
  },
  { name: 'the provider gets the delete request', call: routes.release, done: false },
  { name: 'the provider has deleted the reservation and not answered', call: routes.release, done: true },
  {
    name: 'the record loses its finalizer',
    write: (write) => onRecord(write) && write.operation === 'UPDATE' && !write.object?.metadata.finalizers?.length,
  },
  { name: 'the record is deleted', write: (write) => onRecord(write) && write.operation === 'DELETE' },
  {
    name: 'the Service loses its finalizer',
    write: (write) => onService(write) && !write.object?.metadata.finalizers?.includes(finalizer),
  },
]

const isReleaseRecord = ({ object }: Write) => object?.metadata.name.startsWith('releasing-') === true
const whileCloudIsSlowToDelete: Moment[] = [
  {
    name: 'the release record is written',
    write: (write) => onRecord(write) && isReleaseRecord(write) && write.operation === 'CREATE',
  },
  {
    name: 'the release record enters Releasing',
    write: (write) => isReleaseRecord(write) && enters('Releasing')(write),
  },
]

const ofThisRun = (moments: Moment[]) => moments.filter((moment) => !isCloudOnly || 'call' in moment)
const creating = (name: string) => () => stage.kubectl(['create', '-f', '-'], loadBalancer(name))

for (const [n, moment] of ofThisRun(whileClaiming).entries()) {
  test(`killed when ${moment.name}: the Service has exactly one address in the end`, async () => {
    const before = stage.reserved()
    await killAt(moment, creating(`claiming-${n}`))
    const address = await stage.settled(`claiming-${n}`)
    const bought = stage.reserved().filter(({ id }) => before.every((one) => one.id !== id))
    assert.equal(
      bought.map((one) => one.address),
      [address],
    )
  })
}

for (const [n, moment] of ofThisRun(whileReleasing).entries()) {
  test(`killed when ${moment.name}: the Service and its reservation are deleted`, async () => {
    const name = `releasing-${n}`
    const before = stage.reserved()
    await stage.create(loadBalancer(name))
    await stage.settled(name)
    await killAt(moment, () => stage.kubectl(['delete', 'service', name, '--wait=false']))
    await stage.gone(name)
    assert.equal(stage.reserved(), before)
  })
}

for (const [n, moment] of whileCloudIsSlowToDelete.entries()) {
  test(`killed when ${moment.name}: the Service is deleted, and no other Service gets its address`, async () => {
    const name = `slow-${n}`
    const before = stage.reserved()
    stage.cloud.control.setDeletion({ reservationsMs: 60_000 })
    await stage.create(loadBalancer(name))
    const address = await stage.settled(name)
    await killAt(moment, () => stage.kubectl(['delete', 'service', name, '--wait=false']))
    await stage.gone(name)
    assert.equal(stage.reserved(), before)
    await stage.create(loadBalancer(name))
    assert.is.not(await stage.settled(name), address)
    await stage.run('delete', 'service', name, '--wait=false')
    await stage.gone(name)
  })
}

test.after(async () => {
  await interceptor.close()
  await stage.run('delete', 'validatingwebhookconfiguration', 'write-interceptor')
  await stage.close()
})

test.run()
