// Two clusters share a project and use the same names: neither sweeps the addresses of the other.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const ours = await openStage()
const theirs = await openStage({ account: ours })
const running = { env: dialect.here, flags: ['--sweep-interval=1s', '--unbound-grace=1s'] }
await Promise.all([ours, theirs].map((stage) => stage.startSwept(running)))

const addresses = () => ours.reserved().map(({ address }) => address ?? '')
const sweeps = async (count: number) => {
  const before = ours.calls(routes.list)
  await eventually(`${count} sweeps`, () => ours.calls(routes.list) >= before + count || undefined)
}

/** Creates a Service web with its address in both clusters. */
async function createWeb(): Promise<string[]> {
  return Promise.all(
    [ours, theirs].map(async (stage) => {
      if (!(await stage.service('web'))) await stage.create(loadBalancer('web'))
      return stage.settled('web')
    }),
  )
}

test('Services of one name in two clusters have one address each', async () => {
  const [here = '', there = ''] = await createWeb()
  assert.is.not(here, there)
  assert.equal(new Set(addresses()), new Set([here, there]))
})

test("the sweeps of two clusters leave each other's addresses alone", async () => {
  await createWeb()
  const before = addresses()
  await sweeps(8)
  assert.equal(addresses(), before)
})

test('a sweep leaves the addresses of the other cluster alone after a Service of one name was deleted there', async () => {
  await createWeb()
  const before = addresses()
  await theirs.run('delete', 'service', 'web', '--timeout=120s')
  await theirs.gone('web')
  const [left] = addresses()
  assert.equal(addresses(), [left])
  assert.ok(before.includes(left ?? ''))
  await sweeps(6)
  assert.equal(addresses(), [await ours.settled('web')])
})

test("a lost answer in one cluster is not answered with the other's address", async () => {
  const { faults } = ours.cloud.control
  await createWeb()
  await theirs.run('delete', 'service', 'web', '--timeout=120s')
  await theirs.gone('web')
  faults.add({ on: routes.reserve, answer: 'reset', done: true, times: 1 })
  await theirs.create(loadBalancer('web'))
  const there = await theirs.settled('web')
  assert.equal(addresses(), [await ours.settled('web'), there])
})

test.after(() => theirs.close(ours))

test.run()
