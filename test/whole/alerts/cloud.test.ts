// A cloud that is down or refuses the key: an operator is called once, by the cause.
import { test } from 'uvu'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { faults, tokens } = stage.cloud.control
/** A request whose answer is lost may be in flight for twice this time. */
const timeout = '--cloud-timeout=1s'
/** Without Retry-After the controllers would wait ever longer: seconds that are hours here. */
const retryAfterSeconds = 1
const paceMs = 100

test(
  'a cloud that is down for an hour and comes back',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', [timeout])
    await pass(10)
    faults.add({ answer: 503, retryAfterSeconds })
    await pass(60, { sweeps: false, paceMs })
    faults.clear()
    await pass(40, { paceMs })
    await expect(['EIPAdmissionCloudSilent'], { atEnd: [] })
  }),
)

test(
  'a key that is revoked and added again',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', [timeout])
    await pass(10)
    tokens.revoke('sandbox')
    await pass(60, { sweeps: false, paceMs })
    tokens.add({ token: stage.token, label: 'sandbox' })
    await pass(40, { paceMs })
    await expect(['EIPAdmissionCloudRefuses'], { atEnd: [] })
  }),
)

test.after(() => stage.close())

test.run()
