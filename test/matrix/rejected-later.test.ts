// We admit a Service and reserve its address, and then a later admission step rejects the Service.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { type Facts, loadBalancer } from '../whole/manifests.ts'
import { interceptWrites } from '../whole/write-interceptor.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const { kubectl } = stage
const run = (...args: string[]) => stage.run(...args)
const { calls, latency } = stage.cloud.control
const env = dialect.here
let product = await stage.startSwept({ env })
const interceptor = await interceptWrites(stage)

const isReserved = (address: string) => stage.reserved().some((one) => one.address === address)
const create = (name: string, facts?: Facts) => kubectl(['create', '-f', '-'], loadBalancer(name, facts))

type Rejection = {
  why: string
  /** Tries to create the Service; returns the error. */
  attempt: (name: string) => Promise<string>
  output: string
}

const refusedAs = (facts: Facts) => async (name: string) => (await create(name, facts)).stderr

const rejections: Rejection[] = [
  {
    why: 'its port is none',
    attempt: refusedAs({ spec: { ports: [{ port: 70_000 }] } }),
    output: 'Invalid value: 70000',
  },
  {
    why: 'its nodePort is taken',
    attempt: refusedAs({ spec: { ports: [{ port: 80, nodePort: 30_080 }] } }),
    output: 'provided port is already allocated',
  },
  {
    why: 'another webhook is against it',
    async attempt(name) {
      interceptor.refuseNextWrite(({ object }) => object?.metadata.name === name, 'not on a Friday')
      return (await create(name)).stderr
    },
    output: 'not on a Friday',
  },
  {
    why: 'its author may update Services and not create them',
    attempt: async (name) => {
      const path = `/api/v1/namespaces/default/services/${name}`
      const manifest = { ...loadBalancer(name), metadata: { name, namespace: 'default' } }
      return (await kubectl(['replace', '--as=updater', `--raw=${path}`, '-f', '-'], manifest)).stderr
    },
    output: 'cannot create resource "services"',
  },
  { why: 'its author hangs up', attempt: hangUp, output: 'socket hang up' },
]

/** Creates a Service and closes the connection before the cloud answers. */
async function hangUp(name: string): Promise<string> {
  latency.set({ on: routes.reserve, ms: 4_000 })
  const { url, dir } = stage.controlPlane
  const [token] = readFileSync(`${dir}/tokens.csv`, 'utf8').split(',')
  const before = calls.count(routes.reserve)
  const call = request(`${url}/api/v1/namespaces/default/services`, {
    method: 'POST',
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  const output = new Promise<string>((resolve) => call.on('error', ({ message }) => resolve(message)))
  call.end(JSON.stringify(loadBalancer(name)))
  await eventually('the provider is called', () => calls.count(routes.reserve) > before || undefined)
  call.destroy()
  const words = await output
  await eventually('the provider has answered', async () => (await stage.record(name))?.status?.address)
  latency.clear()
  return words
}

/** Attempts a create that is rejected after our webhook; returns the address that stays reserved. */
async function rejected({ attempt, output }: Rejection, name: string): Promise<string> {
  const before = stage.reserved().length
  assert.match(await attempt(name), output)
  assert.is(await stage.service(name), undefined)
  const record = await stage.record(name)
  assert.is(record?.status?.phase, 'Reserved')
  assert.is(stage.reserved().length, before + 1)
  return record?.status?.address ?? ''
}

/** Makes the quota, the role and the Service that cause the rejections. */
async function prepareRejections(): Promise<void> {
  await run('create', 'namespace', 'poor')
  await run('create', 'quota', 'no-load-balancers', '-n', 'poor', '--hard=services.loadbalancers=0')
  // The quota controller, which would write it, does not run.
  const status = '{"status":{"hard":{"services.loadbalancers":"0"},"used":{"services.loadbalancers":"0"}}}'
  await run('patch', 'quota', 'no-load-balancers', '-n', 'poor', '--subresource=status', '--type=merge', '-p', status)
  await run('create', 'clusterrole', 'updater', '--verb=get,update', '--resource=services')
  await run('create', 'clusterrolebinding', 'updater', '--clusterrole=updater', '--user=updater')
  await stage.create(loadBalancer('first', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] } }))
  await eventually('the quota counts', async () => {
    const dry = await kubectl(['create', '--dry-run=server', '-f', '-'], loadBalancer('x', { namespace: 'poor' }))
    return dry.stderr.includes('exceeded quota') || undefined
  })
  await eventually(
    'the role counts',
    async () => (await kubectl(['auth', 'can-i', 'update', 'services', '--as=updater'])).code === 0 || undefined,
  )
}
await prepareRejections()

test('nothing is reserved for a headless Service, which the API server rejects', async () => {
  calls.clear()
  assert.match((await create('headless', { spec: { clusterIP: 'None' } })).stderr, "may not be set to 'None'")
  assert.equal([calls.all(), await stage.record('headless')], [[], undefined])
})

test('nothing is reserved for a Service that a quota rejects, and it gets its address once there is room', async () => {
  calls.clear()
  assert.match((await create('over', { namespace: 'poor' })).stderr, 'exceeded quota: no-load-balancers')
  assert.equal([calls.all(), await stage.record('over', 'poor')], [[], undefined])
  await run('delete', 'resourcequota', '-n', 'poor', 'no-load-balancers')
  await eventually('it is admitted', async () => (await create('over', { namespace: 'poor' })).code === 0 || undefined)
  await stage.settled('over', 'poor')
  await run('delete', 'service', '-n', 'poor', 'over')
  await stage.gone('over', 'poor')
})

/** For each rejection a Service `again-N` that was created again, and one `gone-N` that was not. */
const episodes = rejections.map((rejection, n) =>
  once(async () => {
    calls.clear()
    const [gone, again] = [`gone-${n}`, `again-${n}`]
    await rejected(rejection, gone)
    const address = await rejected(rejection, again)
    await eventually('it is admitted', async () => (await create(again)).code === 0 || undefined)
    assert.is(await stage.settled(again), address)
    assert.is(calls.count(routes.reserve), 2)
  }),
)

for (const [n, { why }] of rejections.entries()) {
  test(`a Service that is rejected because ${why} gets its reserved address when it is created again`, () =>
    episodes[n]?.())
}

test('addresses of rejected Services that are not created again are released after the grace period', async () => {
  for (const episode of episodes) await episode()
  assert.is(stage.reserved().length, 2 * rejections.length)
  await product.stop()
  product = await stage.startSwept({ env, flags: ['--unbound-grace=1s', '--sweep-interval=1s'] })
  calls.clear()
  await eventually('half of them go back', () => stage.reserved().length === rejections.length || undefined)
  for (const n of rejections.keys()) {
    assert.ok(isReserved(await stage.settled(`again-${n}`)))
    await stage.gone(`gone-${n}`)
  }
  await eventually('three more sweeps', () => stage.calls(routes.list) > 3 || undefined)
  assert.is(stage.reserved().length, rejections.length)
})

test('an address is not released while the second create of its Service is on its way to etcd', async () => {
  await product.stop()
  const graceMs = 8_000
  product = await stage.startSwept({ env, flags: [`--unbound-grace=${graceMs}ms`] })
  const [refused] = rejections
  assert.ok(refused)
  await rejected(refused, 'late')
  const startedMs = performance.now()
  await rejected(refused, 'marker')
  await eventually('half of the grace is over', () => performance.now() - startedMs > graceMs / 2 || undefined)
  // The record of `marker` is younger: when it no longer exists, the first grace period of `late` is over.
  interceptor.onNextWrite(
    ({ operation, object }) => operation === 'CREATE' && object?.kind === 'Service' && object.metadata.name === 'late',
    () => stage.gone('marker'),
  )
  const { spec } = await stage.create(loadBalancer('late'))
  assert.ok(interceptor.hasFired())
  const address = spec.loadBalancerIP ?? ''
  assert.ok(isReserved(address), 'the address that the user has read is reserved')
  assert.is(await stage.settled('late'), address)
  assert.ok(isReserved(address))
})

test.after(async () => {
  await interceptor.close()
  await stage.close()
})

test.run()
