// A drill: a cluster is restored from a backup of another one, which keeps running. Both share a cluster id and a
// project.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runProduct } from '../../sandbox/product.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage, routes } from './dialect.ts'

const original = await openStage({ ownControlPlane: true })
const copy = await openStage({ account: original, ownControlPlane: true })
const running = { env: dialect.here, flags: ['--sweep-interval=1s', '--unbound-grace=1s'] }
const backup = join(original.dir, 'etcd-backup')
const ledger = ['-n', 'eip-admission', 'configmap', 'eip-admission-ledger'] as const

const create = async (name: string) => {
  await original.create(loadBalancer(name))
  return original.settled(name)
}
const addresses = () => original.reserved().map(({ address }) => address ?? '')
const sweeps = async (count: number) => {
  const before = original.calls(routes.list)
  await eventually(`${count} sweeps`, () => original.calls(routes.list) >= before + count || undefined)
}

let product = await original.startSwept(running)
const web = await create('web')
const db = await create('db')
const written = () => original.run('get', ...ledger, '-o', 'jsonpath={.data.signs}')
await eventually('the first heartbeat', async (observe) => observe(await written()) !== '' || undefined)
await product.stop()
await original.controlPlane.whileDown((data) => cpSync(data, backup, { recursive: true }))
product = await original.startSwept(running)
const later = await create('later')
const before = await written()
await eventually('the next heartbeat', async (observe) => observe(await written()) !== before || undefined)

/** Restores the copy and starts the product in it. */
const restore = once(async () => {
  const url = 'jsonpath={.webhooks[0].clientConfig.url}'
  const webhook = await copy.run('get', 'mutatingwebhookconfiguration', 'zz-eip-admission', '-o', url)
  await copy.controlPlane.whileDown((data) => {
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
  })
  const { origin } = new URL(webhook)
  await runProduct(['install', `--kubeconfig=${copy.controlPlane.kubeconfig}`, `--webhook-url=${origin}`])
  const drill = await copy.startSwept(running)
  await eventually(
    'the copy says that it stops',
    async (observe) =>
      observe(await copy.run('get', 'events', '-n', 'eip-admission')).includes('ClusterIdInUse') || undefined,
  )
  return drill
})

test('the copy finds the heartbeat of the original and reports it', async () => {
  const drill = await restore()
  const { status, text } = await drill.health('/readyz')
  assert.is(status, 200)
  assert.match(text, /cluster-id: another cluster uses the cluster id .*`kubectl annotate configmap/)
  assert.match((await drill.health('/metrics')).text, 'eip_admission_cluster_id_in_use 1')
})

const disturb = once(async () => {
  await restore()
  await copy.run('delete', 'service', 'db', '--wait=false')
  original.cloud.control.calls.clear()
  const { spec } = await copy.create(loadBalancer('new'))
  assert.is(spec.loadBalancerIP, undefined, 'admission gives no address, and does not refuse the Service')
})

test('the copy reserves and releases nothing, whatever happens in it', async () => {
  await disturb()
  await eventually('an Event says why', async (observe) => {
    const events = observe(await copy.run('get', 'events', '--field-selector=involvedObject.name=new'))
    return /Address pending: another cluster uses the cluster id/.test(events) || undefined
  })
  await sweeps(12)
  assert.equal(addresses().toSorted(), [web, db, later].toSorted())
  assert.equal([original.calls(routes.reserve), original.calls(routes.release)], [0, 0])
})

test('the original continues meanwhile', async () => {
  await disturb()
  assert.not.match((await product.health('/readyz')).text, 'another cluster')
  const more = await create('more')
  await original.run('delete', 'service', 'more', '--timeout=120s')
  await original.gone('more')
  await eventually('its reservation is released', () => !addresses().includes(more) || undefined)
  for (const name of ['web', 'db', 'later']) assert.ok(addresses().includes(await original.settled(name)))
})

test('another cluster id is refused until a person confirms it', async () => {
  const drill = await restore()
  await drill.stop()
  const start = copy.start({ ...running, flags: [...running.flags, '--cluster-id=drill'] })
  const [refused] = await Promise.allSettled([start])
  assert.is(refused.status, 'rejected')
  const log = readFileSync(copy.logOf('eip-admission'), 'utf8')
  assert.match(log, /cluster id: it is drill, but the reservations of this cluster have the id .*confirm-cluster=drill/)
})

test('after a disaster a person confirms the copy, which takes over and works off what waited', async () => {
  await disturb()
  await copy.startSwept(running)
  await product.stop()
  const heartbeat = await copy.run('get', ...ledger, '-o', 'jsonpath={.data.foreign-sign}')
  await copy.run('annotate', ...ledger, `eip-admission.dev/confirm-cluster=${heartbeat}`)
  await eventually(
    'the copy says that it continues',
    async (observe) =>
      observe(await copy.run('get', 'events', '-n', 'eip-admission')).includes('ClusterTakenOver') || undefined,
  )
  const address = await copy.settled('new')
  assert.ok(addresses().includes(address))
  await copy.gone('db')
  assert.is(await copy.settled('web'), web)
})

test.after(() => copy.close(original))

test.run()
