// Addresses that nobody needs, and a limit that is nearly reached.
import { test } from 'uvu'
import { dialectOf } from '../dialects.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()

test(
  'an orphan that only is reported, and a limit that is nearly reached',
  inHours(stage, async ({ start, pass, expect }) => {
    const cluster = await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')
    await stage.order([dialectOf('equinix-metal').usage, `cluster=${cluster}`, 'service=unknown'])
    await start('a', ['--sweep=report', '--max-addresses=1'])
    await pass(150)
    await expect(['EIPAdmissionLimitNear', 'EIPAdmissionReservationsUnneeded'])
  }),
)

test.after(() => stage.close())

test.run()
