// Two clusters, one project, the same names: the sweeps of either side must not touch what is the other's.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openWorld, routes } from './world.ts'

const dallas = await openWorld()
const sunnyvale = await openWorld({ account: dallas })
const running = { env: { METAL_METRO_NAME: 'da' }, flags: ['--sweep-interval=1s', '--unbound-grace=1s'] }
await Promise.all([dallas, sunnyvale].map((world) => world.startSwept(running)))

const addresses = () => dallas.reserved().map(({ address }) => address)
const sweeps = async (count: number) => {
  const before = dallas.calls(routes.list)
  await eventually(`${count} sweeps`, () => dallas.calls(routes.list) >= before + count || undefined)
}

test('Services of one name in two clusters have an address each', async () => {
  const [here, there] = await Promise.all([dallas, sunnyvale].map((world) => world.create(loadBalancer('web'))))
  assert.is.not(here?.spec.loadBalancerIP, there?.spec.loadBalancerIP)
  assert.equal(await Promise.all([dallas, sunnyvale].map((world) => world.settled('web'))), [
    here?.spec.loadBalancerIP,
    there?.spec.loadBalancerIP,
  ])
})

test('the sweeps of both leave the address of the other alone', async () => {
  const before = addresses()
  await sweeps(8)
  assert.equal(addresses(), before)
})

test('while one cluster has nothing running the other sweeps on and leaves it alone', async () => {
  const before = addresses()
  await sunnyvale.must('delete', 'service', 'web', '--timeout=20s')
  await sunnyvale.gone('web')
  const [left] = addresses()
  assert.equal(addresses(), [left])
  assert.ok(before.includes(left ?? ''))
  await sweeps(6)
  assert.equal(addresses(), [await dallas.settled('web')])
})

test("a lost answer in one cluster is not answered with the other's address", async () => {
  const { faults } = dallas.cloud.door
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 1 })
  await sunnyvale.create(loadBalancer('web'))
  const there = await sunnyvale.settled('web')
  assert.equal(addresses(), [await dallas.settled('web'), there])
})

test('the logs show no missing right and no secret', () => sunnyvale.close(dallas))

test.run()
