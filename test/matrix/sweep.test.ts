// What the cloud has and nobody holds, and what somebody holds and the cloud has no more.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
const { here: env, usage } = dialect
const quick = ['--sweep-interval=1s', '--unbound-grace=2s']
const has = (id: string) => world.reserved().some((one) => one.id === id)

// As a cluster before it might have ordered them, or a person.
const cluster = `cluster=${await world.must('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const orphan = await world.order([usage, cluster, 'service=nobody'])
const foreign = [
  await world.order([usage, 'cluster=another', 'service=nobody']),
  await world.order([usage, 'service=nobody']),
  await world.order(['usage=web', cluster]),
  await world.order(),
]
let product = await world.start({ env, flags: [...quick, '--sweep=report'] })

test('with --sweep=report an orphan is logged and stays', async () => {
  await eventually('the log tells of the orphan', () => {
    const log = readFileSync(world.logOf('eip-admission'), 'utf8').split('\n')
    return log.some((line) => line.includes('nobody wants this address') && line.includes(orphan.id)) || undefined
  })
  assert.ok(has(orphan.id))
})

test('the sweep releases an orphan, and no reservation without our marks', async () => {
  await product.stop()
  product = await world.start({ env, flags: quick })
  await eventually('the orphan is gone', () => !has(orphan.id) || undefined)
  assert.ok(foreign.every(({ id }) => has(id)))
})

test('a Service whose reservation vanished at the cloud gets another address and an Event', async () => {
  await world.create(loadBalancer('unlucky'))
  const lost = await world.settled('unlucky')
  const { id = '' } = world.reserved().find(({ address }) => address === lost) ?? {}
  world.cloud.door.reservations.vanish(id)
  await eventually('the Service shows another address', async (see) => {
    const shown = see(await world.service('unlucky'))?.status?.loadBalancer?.ingress?.[0]?.ip
    return (
      (shown !== undefined && world.reserved().some(({ address, id: now }) => address === shown && now !== id)) ||
      undefined
    )
  })
  await world.settled('unlucky')
  const events = await world.must('get', 'events', '--field-selector=involvedObject.name=unlucky')
  assert.match(events, `Address ${lost} is lost`)
})

test.after(() => world.close())

test.run()
