// The process is killed at those steps of an available address that others can see; the next process finishes the work.
// The walk in test/ledger/available covers other steps, and events between steps.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { type Moment, processKiller, enters, onRecord, onRecordStatus, statusOf } from '../whole/kill-at.ts'
import { eventually } from '../whole/eventually.ts'
import { chosen, loadBalancer } from '../whole/manifests.ts'
import { provisioned, warmNames } from '../whole/available-view.ts'
import { type Write, interceptWrites } from '../whole/write-interceptor.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
// The next process waits until the killed one's requests in flight have timed out: twice the time-out. It retries after
// the grace period of an unbound record. A lease would add another wait.
const running = {
  env: { ...dialect.here, EIP_WARM_POOL: '1' },
  flags: ['--cloud-timeout=1s', '--leader-elect=false', '--unbound-grace=3s'],
}
const product = await stage.startSwept(running)
const interceptor = await interceptWrites(stage)
const killAt = processKiller({ stage, interceptor, running, product })

const [warmName = ''] = warmNames(dialect.place, 1)
const recordIn = ({ object, oldObject }: Write) => (object ?? oldObject) as ElasticIP
const isOf = (name: string) => (write: Write) => recordIn(write).metadata.name.startsWith(name)
const onWarm = (write: Write) => onRecord(write) && isOf(warmName)(write)
const onProvisioned = (write: Write) => onRecord(write) && isOf('office')(write)
const onOwn = (write: Write) => onRecord(write) && isOf('default.')(write)
const sourceIn = (object: Write['object']) => (object as ElasticIP | null)?.spec.source
const claimerIn = ({ object }: Write) => (object as ElasticIP | null)?.spec.claimRef?.elasticIPUID
const { mark } = dialect

const ofWarm: Moment[] = [
  {
    name: 'the record names its warm source',
    write: (write) => onOwn(write) && write.operation === 'CREATE',
  },
  { name: 'the warm record names its claimer', write: (write) => onWarm(write) && claimerIn(write) !== undefined },
  { name: 'the provider gets the request to change the marks', call: mark, done: false },
  { name: 'the provider has changed the marks and not answered', call: mark, done: true },
  { name: 'the warm record is deleted', write: (write) => onWarm(write) && write.operation === 'DELETE' },
  {
    name: 'the record drops its source',
    write: (write) => onOwn(write) && sourceIn(write.oldObject) !== undefined && sourceIn(write.object) === undefined,
  },
  {
    name: 'the next warm record has a request in flight',
    write: (write) => onRecordStatus(write) && isOf('warm')(write) && statusOf(write)?.requestInFlight !== undefined,
  },
  { name: 'the provider gets the reserve request of the pool', call: routes.reserve, done: false },
  { name: 'the provider has reserved an address for the pool and not answered', call: routes.reserve, done: true },
]

const whileClaimingProvisioned: Moment[] = [
  {
    name: 'the provisioned record names its claimer',
    write: (write) => onProvisioned(write) && claimerIn(write) !== undefined,
  },
  { name: 'the provisioned record is Bound', write: (write) => enters('Bound')(write) && isOf('office')(write) },
]

const whileReleasingProvisioned: Moment[] = [
  { name: 'the record of the Service enters Releasing', write: enters('Releasing') },
  { name: 'the record of the Service is deleted', write: (write) => onOwn(write) && write.operation === 'DELETE' },
  {
    name: 'the provisioned record drops its claimer',
    write: (write) => onProvisioned(write) && write.operation === 'UPDATE' && claimerIn(write) === undefined,
  },
]

const records = () => listAll(stage.client, elasticIPs)
const liveServices = async () =>
  (await listAll(stage.client, services)).filter(({ spec }) => spec.type === 'LoadBalancer')

const own = await stage.order()

/** Waits until each Service has its own address, one address is warm, one is provisioned, and there are no others. */
function atRest(): Promise<true> {
  return eventually('each address has one holder', async (observe) => {
    const [all, live] = [observe(await records()), await liveServices()]
    const mine = all.filter(({ metadata }) => metadata.name.startsWith('default.'))
    const [warm] = all.filter(({ metadata }) => metadata.name.startsWith('warm-'))
    const plain = mine.filter(({ spec }) => spec.source?.type !== 'Provisioned')
    const paid = observe(stage.reserved().map(({ address }) => address))
    const isWhole =
      mine.length === live.length && plain.every(({ spec, status }) => !spec.source && status?.phase === 'Bound')
    const isWarm = warm?.status?.phase === 'Available' && !warm.spec.claimRef
    const isPaid = paid.length === plain.length + 2 && new Set(paid).size === paid.length
    return (isWhole && isWarm && isPaid) || undefined
  })
}

await stage.kubectl(['apply', '-f', '-'], provisioned('office', own.id))
await atRest()

for (const [n, moment] of ofWarm.entries()) {
  test(`killed when ${moment.name}: the Service has a warm address, the pool is full, and no address has two holders`, async () => {
    const name = `web-${n}`
    await killAt(moment, () => stage.kubectl(['create', '-f', '-'], loadBalancer(name)))
    await stage.settled(name)
    await atRest()
  })
}

for (const [n, moment] of whileClaimingProvisioned.entries()) {
  test(`killed when ${moment.name}: the Service has the provisioned address that it named`, async () => {
    const name = `claims-${n}`
    const manifest = loadBalancer(name, { annotations: { [chosen]: 'office' } })
    await killAt(moment, () => stage.kubectl(['create', '-f', '-'], manifest))
    assert.is(await stage.settled(name), own.address)
    await atRest()
    await stage.run('delete', 'service', name)
    await stage.gone(name)
  })
}

for (const [n, moment] of whileReleasingProvisioned.entries()) {
  test(`killed when ${moment.name}: the provisioned address is available again`, async () => {
    const name = `releases-${n}`
    const manifest = loadBalancer(name, { annotations: { [chosen]: 'office' } })
    await eventually(
      'the Service is admitted',
      async () => (await stage.kubectl(['create', '-f', '-'], manifest)).code === 0 || undefined,
    )
    await stage.settled(name)
    await killAt(moment, () => stage.kubectl(['delete', 'service', name, '--wait=false']))
    await stage.gone(name)
    await eventually('it is Available', async (observe) => {
      const office = observe((await records()).find(({ metadata }) => metadata.name === 'office'))
      return (office?.status?.phase === 'Available' && !office.spec.claimRef) || undefined
    })
    await atRest()
  })
}

test.after(async () => {
  await interceptor.close()
  await stage.run('delete', 'validatingwebhookconfiguration', 'write-interceptor')
  await stage.close()
})

test.run()
