// A copy of a cluster, restored so soon that the original has written no heartbeat since the backup.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import type { TestStage } from '../whole/test-stage.ts'
import { dialect, openStage, routes } from './dialect.ts'

const original = await openStage({ ownControlPlane: true })
const copy = await openStage({ account: original, ownControlPlane: true })
const running = { env: dialect.here, flags: ['--sweep-interval=5m', '--unbound-grace=1s'] }
const backup = join(original.dir, 'etcd-backup')
const isReserved = (address: string) => original.reserved().some((one) => one.address === address)

const create = async (name: string) => {
  await original.create(loadBalancer(name))
  return original.settled(name)
}

let product = await original.startSwept(running)
const web = await create('web')
const db = await create('db')
await product.stop()
// The next leader observes heartbeats only if one was written, and the first sweep had no carrier.
product = await original.startSwept(running)
const written = () =>
  original.run('get', '-n', 'eip-admission', 'configmap', 'eip-admission-ledger', '-o', 'jsonpath={.data.signs}')
await eventually('the first heartbeat', async (observe) => observe(await written()) !== '' || undefined)
await product.stop()
await original.controlPlane.whileDown((data) => cpSync(data, backup, { recursive: true }))

/**
 * Sets when the last leader ended, which distinguishes a young copy from its original, so that a slow machine does not
 * decide it.
 */
async function ended({ client }: TestStage, agoMs: number): Promise<void> {
  const lease = await client.get(leases, { namespace: 'kube-system', name: 'cloud-controller-manager' })
  assert.ok(lease)
  const renewTime = new Date(Date.now() - agoMs).toISOString().replace('Z', '000Z')
  await client.replace(leases, { ...lease, spec: { ...lease.spec, renewTime } })
}

/** Restores the copy, in which nothing has led since the backup, two minutes ago. */
async function restore(): Promise<void> {
  await copy.controlPlane.whileDown((data) => {
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
  })
  await ended(copy, 120_000)
}

test('the copy does not release what a person deletes in it, before and after a restart', async () => {
  await restore()
  let drill = await copy.startSwept(running)
  await copy.run('delete', 'service', 'web', '--wait=false')
  await eventually('an Event says why', async (observe) => {
    const text = observe(await copy.run('get', 'events', '--field-selector=involvedObject.name=web'))
    return /first makes sure that no other cluster uses this cluster's id/.test(text) || undefined
  })
  await drill.stop()
  drill = await copy.startSwept(running)
  await sleep(6_000)
  assert.ok(isReserved(web))
  assert.is(original.calls(routes.release), 0)
  await drill.stop()
})

test('the original, restarted, releases at once', async () => {
  // The difference counts: the start has more than two minutes until the silence would look like a backup's.
  await ended(original, -60_000)
  product = await original.startSwept(running)
  await original.run('delete', 'service', 'db', '--timeout=120s')
  await original.gone('db')
  assert.not(isReserved(db))
})

test.after(() => copy.close(original))

test.run()
