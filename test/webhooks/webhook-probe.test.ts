import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { webhookProbe } from '../../webhooks/webhook-probe.ts'
import { silentLog } from '../fakes/log.ts'

test('between two probes is the interval, also when it is longer than a timer of Node can be', async () => {
  const over = new AbortController()
  let reads = 0
  // Webhooks that were missed once are probed again after 15 s. These cannot be probed.
  const fail = () => Promise.reject(new Error(`no answer to call ${(reads += 1)}`))
  const probe = webhookProbe({
    client: { get: fail, create: fail },
    namespace: 'eip-admission',
    intervalMs: 2 ** 31,
    events: { record() {} },
    mayReport: () => true,
    log: silentLog,
  })
  probe.start(over.signal)
  // Had the timer of the probe overflowed, it would end before this one, which was set later.
  await sleep(5)
  over.abort()
  assert.is(reads, 2, 'the two configurations, once')
})

test.run()
