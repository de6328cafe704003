// A Service that waits for the provider gets one Event that says why: a poll that changes nothing writes none.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { events } from '../../kube/resource.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage({ dialect: 'equinix-metal' })
const { quota, faults } = stage.cloud.control
// Without the webhooks the Service is stored, and the controller's claim is refused.
await stage.create(loadBalancer('missed'))
quota.set(0)
const product = await stage.startSwept({ env: dialectOf('equinix-metal').here })

/** How often each reason and message was counted on a Service. */
async function told(name: string): Promise<Record<string, number>> {
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name}`
  const { items } = await stage.client.list(events, { namespace: 'default', fieldSelector })
  return Object.fromEntries(
    items.map(({ reason, message, count }) => [`${reason}: ${message.replace(/ ?(Equinix|203).*/, '')}`, count]),
  )
}

/** How often the controllers have tried to get an address. */
async function attempts(): Promise<number> {
  const { text } = await product.health('/metrics')
  const counts = text.matchAll(/reconcile_duration_seconds_count\{[^}]*"service-claim"[^}]*\} (\d+)/g)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

test('a Service that the quota refuses again and again is told so once, and then that it has its address', async () => {
  await eventually('it is refused five times', () => stage.calls(routes.reserve) >= 5 || undefined)
  const refused = {
    'EnsuringLoadBalancer: Ensuring load balancer': 1,
    'SyncLoadBalancerFailed: Error syncing load balancer: no address:': 1,
  }
  assert.equal(await told('missed'), refused)
  quota.set(256)
  await stage.settled('missed')
  const ended = await eventually('its Event reports it', async () => {
    const { 'EnsuredLoadBalancer: Ensured load balancer:': ensured, ...before } = await told('missed')
    return ensured === undefined ? undefined : before
  })
  assert.equal(ended, refused)
})

test('so is a Service whose address is pending in an outage', async () => {
  faults.add({ answer: 503 })
  await stage.create(loadBalancer('pending'))
  const before = await attempts()
  await eventually('it is tried six times', async (observe) => observe(await attempts()) >= before + 6 || undefined)
  const counts = await told('pending')
  assert.ok(Object.keys(counts).some((text) => text.startsWith('SyncLoadBalancerFailed: Address pending: ')))
  for (const [text, count] of Object.entries(counts)) assert.is(count, 1, text)
  faults.clear()
  await stage.settled('pending')
})

test.after(() => stage.close())

test.run()
