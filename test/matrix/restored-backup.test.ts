// The cluster is restored from an older backup; the cloud is not.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases, nodeLeaseNamespace, nodes } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer, reclaim } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage({ ownControlPlane: true })
const { controlPlane, cloud } = stage
const { here: env } = dialect
const quick = ['--sweep-interval=1s', '--unbound-grace=1s']
const backup = join(stage.dir, 'etcd-backup')
// The backup must wait this long for free addresses. A cloud may list deleted reservations for a minute.
cloud.control.setDeletion({ reservationsMs: 2_000 })
let product = await stage.startSwept({ env, flags: quick })

const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')
const isReserved = (address: string) => stage.reserved().some((one) => one.address === address)
const create = async (name: string, annotations = {}) => {
  await stage.create(loadBalancer(name, { annotations }))
  return stage.settled(name)
}

/** Registers a node, and renews its lease as the kubelet does, until the stage closes. */
const startKubelet = async (name: string) => {
  const { client } = stage
  const at = { namespace: nodeLeaseNamespace, name }
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} } as const
  await client.create(nodes, node)
  const nodeInfo = { bootID: 'boot-1', machineID: 'machine-1', systemUUID: 'uuid-1' }
  const merge = { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Test' }], nodeInfo } }
  await client.patch(nodes, { name, patch: { merge } }, { subresource: 'status' })
  await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: at })
  const renewing = setInterval(() => {
    const patch = { merge: { spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } } }
    // It continues while the API server is down, as a kubelet does.
    client.patch(leases, { ...at, patch }).catch(() => undefined)
  }, 500)
  test.after(() => clearInterval(renewing))
}

// In the backup.
await startKubelet('machine-1')
const stays = await create('stays')
const kept = await create('kept', { [reclaim]: 'Retain' })
await stage.run('delete', 'service', 'kept', '--timeout=120s')
const goes = await create('goes')
const halfway = await create('halfway')
await product.stop()
// The product is stopped, so its finalizer holds the Service.
await stage.run('delete', 'service', 'halfway', '--wait=false')
await controlPlane.whileDown((data) => cpSync(data, backup, { recursive: true }))
product = await stage.startSwept({ env, flags: quick })

// Not in the backup.
await stage.gone('halfway')
await stage.run('delete', 'service', 'goes', '--timeout=120s')
await stage.gone('goes')
await eventually('their addresses are free', () => cloud.control.reservations.deleting().length === 0 || undefined)
const comes = await create('comes')
const returns = await create('returns')
const heartbeatNames = (machine: RegExp) => stage.reserved().some(({ tags }) => machine.test(tags.join()))
await eventually('a heartbeat names the machine', () => heartbeatNames(/sign=\w+\.\d+\.[0-9a-f]{16}/) || undefined)
await product.stop()
const paidFor = stage.reserved()

/** Restores the backup, and runs the product until it has swept four times without a release. */
const restoreBackup = once(async () => {
  assert.equal(
    [comes, returns].toSorted(),
    [goes, halfway].toSorted(),
    'the provider has given the addresses to others',
  )
  await controlPlane.whileDown((data) => {
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
  })
  assert.equal([await stage.service('comes'), await stage.service('returns')], [undefined, undefined])
  assert.ok((await stage.service('goes'))?.spec.loadBalancerIP)
  product = await stage.startSwept({ env, flags: [...quick, '--sweep=report'] })
  cloud.control.calls.clear()
  for (const { id, address } of paidFor.filter(({ address }) => [comes, returns].includes(address ?? '')))
    await eventually(`the log names ${address}`, () => log().includes(`"reservation":"${id}"`) || undefined)
  await eventually('four sweeps', () => stage.calls(routes.list) >= 4 || undefined)
  assert.is(stage.calls(routes.release), 0)
  for (const { id } of paidFor) assert.ok(stage.reserved().some((one) => one.id === id))
})

const recreateReturns = once(async () => {
  await restoreBackup()
  const { spec } = await stage.create(loadBalancer('returns'))
  assert.is(await stage.settled('returns'), spec.loadBalancerIP)
})

test('after the restore with --sweep=report nothing is released', restoreBackup)

test('after the restore the cluster knows its own heartbeat by the kubelet that serves it', async () => {
  await restoreBackup()
  const said = await stage.run('get', 'events', '-n', 'eip-admission', '--field-selector=reason=ClusterTakenOver')
  assert.match(said, /it wrote the heartbeat itself, before it was put back to an older backup/)
})

test('after the restore a live Service keeps its address, and a retained address stays retained', async () => {
  await restoreBackup()
  assert.is(await stage.settled('stays'), stays)
  assert.is((await stage.record('kept'))?.status?.phase, 'Released')
  assert.ok([stays, kept].every(isReserved))
})

test('a restored Service whose address was reserved for another Service gets a new one', async () => {
  await restoreBackup()
  const address = await eventually('it shows an address that is paid for', async (observe) => {
    const { address, reservationID } = observe(await stage.record('goes'))?.status ?? {}
    return stage.reserved().some((one) => one.id === reservationID) ? address : undefined
  })
  assert.is(await stage.settled('goes'), address)
})

test('a restored Service with a deletionTimestamp is deleted', async () => {
  await restoreBackup()
  await stage.gone('halfway')
})

test('a Service that is created again after the restore has one address', recreateReturns)

test('the sweep after a restore releases the reservations of unknown Services, and no other', async () => {
  await recreateReturns()
  await product.stop()
  product = await stage.startSwept({ env, flags: quick })
  const wanted = await Promise.all(['stays', 'goes', 'returns'].map((name) => stage.settled(name)))
  await eventually('only what is wanted or kept is paid for', (observe) => {
    const reserved = observe(stage.reserved()).map(({ address }) => address ?? '')
    return new Set(reserved).symmetricDifference(new Set([...wanted, kept])).size === 0 || undefined
  })
  cloud.control.calls.clear()
  await eventually('four more sweeps', () => stage.calls(routes.list) >= 4 || undefined)
  // A cloud that still lists deleted reservations gets the same call again, and no other.
  const inUse = stage.reserved().map(({ id }) => id)
  const released = cloud.control.calls.all(routes.release).map(({ path }) => path)
  assert.equal(
    released.filter((path) => inUse.some((id) => path.includes(id))),
    [],
  )
})

test('after the restore a retained address is bound by a Service of its name', async () => {
  await restoreBackup()
  await stage.create(loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } }))
  assert.is(await stage.settled('kept'), kept)
})

test.after(() => stage.close())

test.run()
