// A cloud that works but for new addresses: it has none, does not grant them, or takes long.
import { test } from 'uvu'
import { dialectOf } from '../dialects.ts'
import { openStage, routes } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { latency, quota } = stage.cloud.control

test(
  'a quota that is used up',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    quota.set(0)
    await pass(30)
    await expect(['EIPAdmissionCloudRefuses'])
  }),
)

test(
  'a cloud that takes six seconds for each address',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    latency.set({ on: routes.reserve, ms: 6_000 })
    await pass(25)
    await expect(['EIPAdmissionReviewsSlow'])
  }),
)

// The last one: what it leaves is granted in ten minutes.
test(
  'a cloud that answers, and grants no address',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    await dialectOf('equinix-metal').setGrants?.(stage.cloud.controlUrl, { mode: 'late', afterMs: 600_000 })
    await pass(60)
    await expect(['EIPAdmissionAddressPending'])
  }),
)

test.after(() => stage.close())

test.run()
