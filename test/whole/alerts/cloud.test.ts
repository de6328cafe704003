// A cloud that is down, refuses the key, or only fails for new addresses: an operator is alerted once, to the cause.
import { test } from 'uvu'
import { dialectOf } from '../dialects.ts'
import { openStage, routes } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { faults, latency, quota, tokens } = stage.cloud.control
/** A request whose answer is lost may be in flight for twice this time. */
const timeout = '--cloud-timeout=1s'
/** Without Retry-After the controllers would back off further, by seconds that count as hours here. */
const retryAfterSeconds = 1
const paceMs = 100

test(
  'a cloud that is down for an hour and comes back',
  inHours(stage, 'cloud-down', async ({ start, pass, expect }) => {
    await start('a', [timeout])
    await pass(10)
    faults.add({ answer: 503, retryAfterSeconds })
    await pass(60, { grants: false, sweeps: false, paceMs })
    faults.clear()
    await pass(40, { paceMs })
    await expect(['EIPAdmissionCloudSilent'], { atEnd: [] })
  }),
)

test(
  'a key that is revoked and added again',
  inHours(stage, 'key-revoked', async ({ start, pass, expect }) => {
    await start('a', [timeout])
    await pass(10)
    tokens.revoke('sandbox')
    await pass(60, { grants: false, sweeps: false, paceMs })
    tokens.add({ token: stage.token, label: 'sandbox' })
    await pass(40, { paceMs })
    await expect(['EIPAdmissionCloudRefuses'], { atEnd: [] })
  }),
)

test(
  'a quota that is used up',
  inHours(stage, 'quota-used-up', async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    quota.set(0)
    await pass(30, { grants: false })
    await expect(['EIPAdmissionCloudRefuses'])
  }),
)

test(
  'a cloud that takes more than five seconds for each address',
  inHours(stage, 'cloud-slow', async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    latency.set({ on: routes.reserve, ms: 5_500 })
    await pass(25)
    await expect(['EIPAdmissionReviewsSlow'])
  }),
)

// This test comes last: its leftovers are granted only after ten minutes.
test(
  'a cloud that answers, and grants no address',
  inHours(stage, 'cloud-grants-late', async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    await dialectOf('equinix-metal').setGrants?.(stage.cloud.controlUrl, { mode: 'late', afterMs: 600_000 })
    await pass(60, { grants: false })
    // Users delete the oldest Service every five minutes. Without users, a Service has clearly waited longer at the
    // end.
    await pass(10, { load: false, grants: false })
    await expect(['EIPAdmissionAddressPending'])
  }),
)

test.after(() => stage.close())

test.run()
