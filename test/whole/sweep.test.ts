// What the cloud has and nobody holds, and what somebody holds and the cloud has no more.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openWorld } from './world.ts'

const world = await openWorld()
const env = { METAL_METRO_NAME: 'da' }
const quick = ['--sweep-interval=1s', '--unbound-grace=2s']
let product = await world.startSwept({ env, flags: [...quick, '--sweep=report'] })
const { cloud, project, token } = world

/** Orders an address past the product, as a cluster before it might have, or a person. */
async function order(tags: string[]): Promise<string> {
  const answer = await fetch(`${cloud.url}/projects/${project}/ips`, {
    method: 'POST',
    headers: { 'x-auth-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'public_ipv4', quantity: 1, metro: 'da', tags }),
  })
  const { id } = (await answer.json()) as { id: string }
  return id
}

const usage = 'usage=cloud-provider-equinix-metal-auto'
const has = (id: string) => world.reserved().some((one) => one.id === id)
const cluster = `cluster=${await world.must('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const orphan = await order([usage, cluster, 'service=nobody'])
const foreign = [
  await order([usage, 'cluster=another', 'service=nobody']),
  await order([usage, 'service=nobody']),
  await order(['usage=web', cluster]),
  await order([]),
]

test('with --sweep=report an orphan is told of and stays', async () => {
  await eventually('the log tells of the orphan', () => {
    const log = readFileSync(world.logOf('eip-admission'), 'utf8')
    return (log.includes('nobody wants this address') && log.includes(orphan)) || undefined
  })
  assert.ok(has(orphan))
})

test('without it the orphan goes back, and nothing that is not surely ours', async () => {
  await product.stop()
  product = await world.start({ env, flags: quick })
  await eventually('the orphan is gone', () => !has(orphan) || undefined)
  assert.ok(foreign.every(has))
})

test('a Service whose address the cloud has lost gets another one, and is told', async () => {
  await world.create(loadBalancer('unlucky'))
  const lost = await world.settled('unlucky')
  const { id = '' } = world.reserved().find(({ address }) => address === lost) ?? {}
  cloud.door.reservations.vanish(id)
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

test('what was run is taken down', () => world.close())

test.run()
