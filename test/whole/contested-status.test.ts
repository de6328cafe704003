// Another program writes its own address into the status of our Services, as a second controller of load balancers
// does. The two must not overwrite each other as fast as they can.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { events, services } from '../../kube/resource.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
await stage.startSwept({ env: { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' } })
const theirs = '192.0.2.99'

/**
 * Writes its address into the status of a Service whenever the status shows another one; counts its writes until it is
 * stopped.
 */
function startRival(name: string): { stop(): Promise<void>; writes(): number } {
  const stopping = new AbortController()
  let writes = 0
  const run = async () => {
    while (!stopping.signal.aborted) {
      if (shownIn(await stage.service(name)) !== theirs) {
        writes += 1
        const merge = { status: { loadBalancer: { ingress: [{ ip: theirs }] } } }
        const target = { namespace: 'default', name, patch: { merge } }
        await stage.client.patch(services, target, { subresource: 'status' })
      }
      await sleep(100)
    }
  }
  const ended = run()
  return {
    writes: () => writes,
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}

test('a Service whose status another program rewrites is repaired less and less often, and an Event says why', async () => {
  await stage.create(loadBalancer('contested'))
  const address = await stage.settled('contested')
  const rival = startRival('contested')
  await eventually('an Event names the dispute', async (observe) => {
    const { items } = await stage.client.list(events, { namespace: 'default' })
    const messages = observe(items.map(({ message }) => message ?? ''))
    return messages.some((text) => text.includes('the step announce keeps repeating')) || undefined
  })
  const before = rival.writes()
  await sleep(6_000)
  // Without a back-off there would be sixty: it begins with half a second and doubles.
  assert.ok(rival.writes() - before < 10, `${rival.writes() - before} writes in 6 s`)
  await stage.create(loadBalancer('beside-it'))
  await stage.settled('beside-it')
  await rival.stop()
  await eventually(
    'our address is back',
    async () => shownIn(await stage.service('contested')) === address || undefined,
  )
})

test('a contested Service is deleted, and its reservation with it', async () => {
  const rival = startRival('contested')
  await sleep(1_000)
  await rival.stop()
  await stage.run('delete', 'service', 'contested', '--timeout=100s')
  await stage.gone('contested')
  assert.is(stage.reserved().length, 1)
})

test.after(() => stage.close())

test.run()
