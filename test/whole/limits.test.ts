// The limits of a tenant: default limits, quotas, and retained addresses.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { eventually } from './eventually.ts'
import { type Facts, loadBalancer, reclaim } from './manifests.ts'
import { once } from './once.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
const { kubectl } = stage
const run = (...args: string[]) => stage.run(...args)
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }
const defaults = { EIP_MAX_ADDRESSES: '', EIP_MAX_ADDRESSES_PER_NAMESPACE: '', EIP_MAX_UNBOUND: '' }
let product = await stage.startSwept({ env: { ...env, ...defaults } })

const create = (name: string, facts?: Facts) => kubectl(['create', '-f', '-'], loadBalancer(name, facts))
const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}-${String(n)}`)

/** Makes a namespace with a ResourceQuota. The controller that counts the usage does not run here. */
async function makeQuota(namespace: string, hard: Record<string, string>): Promise<void> {
  await run('create', 'namespace', namespace)
  const list = Object.entries(hard).map(([resource, amount]) => `${resource}=${amount}`)
  await run('create', 'quota', 'small', '-n', namespace, `--hard=${list.join()}`)
  const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0']))
  const patch = JSON.stringify({ status: { hard, used } })
  await run('patch', 'quota', 'small', '-n', namespace, '--subresource=status', '--type=merge', '-p', patch)
  await eventually('the quota counts', async () => {
    const seen = await run('get', 'quota', 'small', '-n', namespace, '-o', 'jsonpath={.status.used}')
    return seen.includes('services') || undefined
  })
}

// A table in test/ledger/claim/quota.test.ts shows what each kind of quota counts.
test('creates that a ResourceQuota rejects buy nothing', async () => {
  await makeQuota('poor', { services: '0' })
  await eventually('the API server knows the quota', async () => {
    const { stderr } = await kubectl(
      ['create', '--dry-run=server', '-f', '-'],
      loadBalancer('x', { namespace: 'poor' }),
    )
    return stderr.includes('exceeded quota') || undefined
  })
  stage.cloud.control.calls.clear()
  const output = await Promise.all(names(5, 'flood').map((name) => create(name, { namespace: 'poor' })))
  for (const { stderr } of output) assert.match(stderr, 'exceeded quota: small')
  assert.is(stage.calls(routes.reserve), 0)
  assert.equal(stage.reserved(), [])
})

test('of simultaneous creates as many buy an address as the quota has left', async () => {
  await makeQuota('some', { 'services.loadbalancers': '2' })
  stage.cloud.control.calls.clear()
  const output = await Promise.all(names(8, 'racer').map((name) => create(name, { namespace: 'some' })))
  assert.is(output.filter(({ code }) => code === 0).length, 2)
  assert.ok(stage.calls(routes.reserve) <= 4, `${String(stage.calls(routes.reserve))} addresses were bought`)
})

test('the default limit of a namespace is 20, retained addresses count, and the refusal names the flag', async () => {
  await run('create', 'namespace', 'hoard')
  const retain = { namespace: 'hoard', annotations: { [reclaim]: 'Retain' } }
  for (const name of names(2, 'kept')) {
    await stage.create(loadBalancer(name, retain))
    await stage.settled(name, 'hoard')
    await run('delete', 'service', name, '-n', 'hoard')
    await eventually('its address is retained', async () =>
      (await stage.record(name, 'hoard'))?.status?.phase === 'Released' ? true : undefined,
    )
  }
  for (const name of names(18, 'used'))
    await stage.client.create(services, loadBalancer(name, { namespace: 'hoard' }) as Service)
  const before = stage.reserved().length
  const refused = await create('more', { namespace: 'hoard' })
  assert.is(refused.code, 1)
  assert.match(
    refused.stderr,
    'the limit of 20 addresses in namespace hoard is reached (--max-addresses-per-namespace)',
  )
  assert.is(stage.reserved().length, before)
  assert.ok((await stage.create(loadBalancer('elsewhere'))).spec.loadBalancerIP)
})

/** Restarts so that a namespace may have one address, and so three new ones within an hour. */
const restartWithOne = once(async () => {
  await product.stop()
  product = await stage.startSwept({ env: { ...env, ...defaults }, flags: ['--max-addresses-per-namespace=1'] })
})

test('a loop that creates a Service and deletes it ends, and says when the next one is possible', async () => {
  await restartWithOne()
  await run('create', 'namespace', 'loop')
  stage.cloud.control.calls.clear()
  for (const name of names(3, 'turn')) {
    await stage.create(loadBalancer(name, { namespace: 'loop' }))
    await stage.settled(name, 'loop')
    await run('delete', 'service', name, '-n', 'loop')
    await eventually('its record no longer exists', async () => ((await stage.record(name, 'loop')) ? undefined : true))
  }
  const refused = await create('turn-3', { namespace: 'loop' })
  assert.is(refused.code, 1)
  assert.match(
    refused.stderr,
    /namespace loop got 3 new addresses within an hour, 3 times --max-addresses-per-namespace; it gets the next one after 20\d\d-/,
  )
  assert.is(stage.calls(routes.reserve), 3)
  const dryRun = await kubectl(['create', '--dry-run=server', '-f', '-'], loadBalancer('turn-3', { namespace: 'loop' }))
  assert.match(dryRun.stderr, 'namespace loop got 3 new addresses within an hour')
})

/** Restarts with limits below the addresses that are held, and without retained addresses. */
const restartWithLess = once(async () => {
  await product.stop()
  product = await stage.startSwept({
    env: { ...env, ...defaults },
    flags: ['--max-addresses=3', '--allow-retain=false', '--sweep-interval=1s'],
  })
})

test('after a restart with a lower limit every Service keeps its address, and new ones are refused', async () => {
  await restartWithLess()
  stage.cloud.control.calls.clear()
  const refused = await create('late')
  assert.match(refused.stderr, 'the limit of 3 addresses in the cluster is reached (--max-addresses)')
  await eventually('three sweeps', () => stage.calls(routes.list) > 3 || undefined)
  assert.is(stage.calls(routes.release), 0)
  await stage.settled('used-0', 'hoard')
})

test('where Retain is not allowed, a Service that requests it is refused, and others are not', async () => {
  await restartWithLess()
  const refused = await create('greedy', { annotations: { [reclaim]: 'Retain' } })
  assert.match(refused.stderr, `annotation ${reclaim}: "Retain" is not allowed in this cluster (--allow-retain)`)
  const other = await create('modest', { annotations: { [reclaim]: 'Delete' } })
  assert.match(other.stderr, 'the limit of 3 addresses')
  await stage.run('annotate', 'service', 'used-0', '-n', 'hoard', `${reclaim}=Delete`)
  const turned = await kubectl(['annotate', 'service', 'used-0', '-n', 'hoard', `${reclaim}=Retain`, '--overwrite'])
  assert.match(turned.stderr, '"Retain" is not allowed')
})

test.after(() => stage.close())

test.run()
