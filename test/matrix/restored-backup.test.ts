// The cluster is set back to what it was a while ago; the cloud is not.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer, reclaim } from '../whole/manifests.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
const { controlPlane, cloud } = world
const { here: env } = dialect
const quick = ['--sweep-interval=1s', '--unbound-grace=1s']
const backup = join(world.dir, 'etcd-backup')
let product = await world.startSwept({ env, flags: quick })

const log = () => readFileSync(world.logOf('eip-admission'), 'utf8')
const isReserved = (address: string) => world.reserved().some((one) => one.address === address)
const create = async (name: string, annotations = {}) => {
  await world.create(loadBalancer(name, { annotations }))
  return world.settled(name)
}

// What the backup knows.
const stays = await create('stays')
const kept = await create('kept', { [reclaim]: 'Retain' })
await world.must('delete', 'service', 'kept', '--timeout=20s')
const goes = await create('goes')
const halfway = await create('halfway')
await product.stop()
// Nothing of ours runs: its finalizer holds it.
await world.must('delete', 'service', 'halfway', '--wait=false')
await controlPlane.whileDown((data) => cpSync(data, backup, { recursive: true }))
product = await world.startSwept({ env, flags: quick })

// What it does not know.
await world.gone('halfway')
await world.must('delete', 'service', 'goes', '--timeout=20s')
await world.gone('goes')
await eventually('their addresses are free', () => cloud.door.reservations.leaving().length === 0 || undefined)
const comes = await create('comes')
const returns = await create('returns')
await product.stop()
const paidFor = world.reserved()

test('the cluster is set back', async () => {
  assert.equal([comes, returns].toSorted(), [goes, halfway].toSorted(), 'the cloud has given the addresses to others')
  await controlPlane.whileDown((data) => {
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
  })
  assert.equal([await world.service('comes'), await world.service('returns')], [undefined, undefined])
  assert.ok((await world.service('goes'))?.spec.loadBalancerIP)
})

test('after the restore with --sweep=report nothing is released', async () => {
  product = await world.startSwept({ env, flags: [...quick, '--sweep=report'] })
  cloud.door.calls.clear()
  for (const { id, address } of paidFor.filter(({ address }) => [comes, returns].includes(address ?? '')))
    await eventually(`the log tells of ${address}`, () => log().includes(`"reservation":"${id}"`) || undefined)
  await eventually('four sweeps', () => world.calls(routes.list) >= 4 || undefined)
  assert.is(world.calls(routes.release), 0)
  for (const { id } of paidFor) assert.ok(world.reserved().some((one) => one.id === id))
})

test('after the restore a live Service keeps its address, and a retained address stays retained', async () => {
  assert.is(await world.settled('stays'), stays)
  assert.is((await world.record('kept'))?.status?.phase, 'Released')
  assert.ok([stays, kept].every(isReserved))
})

test('a restored Service whose address was reserved for another Service gets a new one', async () => {
  const address = await eventually('it shows an address that is paid for', async (see) => {
    const { address, reservationID } = see(await world.record('goes'))?.status ?? {}
    return world.reserved().some((one) => one.id === reservationID) ? address : undefined
  })
  assert.is(await world.settled('goes'), address)
})

test('a restored Service with a deletionTimestamp is deleted', () => world.gone('halfway'))

test('a Service that is created again after the restore has one address', async () => {
  const { spec } = await world.create(loadBalancer('returns'))
  assert.is(await world.settled('returns'), spec.loadBalancerIP)
})

test('the sweep after a restore releases the reservations of unknown Services, and no other', async () => {
  await product.stop()
  product = await world.startSwept({ env, flags: quick })
  const wanted = await Promise.all(['stays', 'goes', 'returns'].map((name) => world.settled(name)))
  await eventually('only what is wanted or kept is paid for', (see) => {
    const reserved = see(world.reserved()).map(({ address }) => address ?? '')
    return new Set(reserved).symmetricDifference(new Set([...wanted, kept])).size === 0 || undefined
  })
  cloud.door.calls.clear()
  await eventually('four more sweeps', () => world.calls(routes.list) >= 4 || undefined)
  assert.is(world.calls(routes.release), 0)
})

test('after the restore a retained address is bound by a Service of its name', async () => {
  await world.create(loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } }))
  assert.is(await world.settled('kept'), kept)
})

test.after(() => world.close())

test.run()
