import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type MoveReportOptions, reportMove } from '../../../controllers/control-plane/move-report.ts'
import type { MoveReason } from '../../../controllers/moves/move-plan.ts'
import { noProbes } from '../../../controllers/moves/probe-history.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

type Reported = { about: string; type: string; reason: string; message: string }

/** Reports a move of 203.0.113.9 from these machines to node b, and lets 20 s pass. */
async function report(from: string[], reason: MoveReason, isAnswering: (afterMs: number) => boolean | undefined) {
  const clock = fakeClock()
  const [beganAtMs, events, metrics] = [clock.now(), [] as Reported[], makeMetrics()]
  const endpoint = undefined
  const former = { name: 'a', machine: 'A', endpoint, leaving: 0, isPublished: true }
  const options: MoveReportOptions = {
    nodeWith: (machine) =>
      machine === 'A' ? { ...former, probes: { ...noProbes, answeredAtMs: beganAtMs - 2_000 } } : undefined,
    isAnswering() {
      const answer = isAnswering(clock.now() - beganAtMs)
      return answer === undefined ? undefined : Promise.resolve(answer)
    },
    event: (about, occurrence) =>
      void events.push({ about: about === 'mirror-service' ? about : about.node, ...occurrence }),
    metrics,
    clock,
    log: recordedLog(),
  }
  const to = { name: 'b', machine: 'B', endpoint, leaving: 0, probes: noProbes }
  const move = { do: 'move' as const, to, reason, why: '3 probes failed', beganAtMs }
  const ending = new AbortController()
  const reporting = reportMove(
    { ...move, from: { id: 'r', address: '203.0.113.9', machines: from } },
    options,
    ending.signal,
  )
  await clock.pass(20_000)
  await reporting
  const [, outageS] = /^eip_admission_control_plane_outage_seconds_total (\S+)$/m.exec(await metrics.text()) ?? []
  return { events, outageS: Number(outageS) }
}

test('the mirror Service and both nodes get an Event of a move, and of the first answer after it', async () => {
  const { events, outageS } = await report(['A'], 'failed', (ms) => ms >= 500)
  assert.equal(
    events.map(({ about, type, reason }) => `${type} ${reason} ${about}`),
    [
      ...['mirror-service', 'b', 'a'].map((about) => `Warning ControlPlaneAddressMoved ${about}`),
      ...['mirror-service', 'b', 'a'].map((about) => `Normal ControlPlaneAddressAnswers ${about}`),
    ],
  )
  assert.is(events[0]?.message, 'The control-plane address 203.0.113.9 moved from a to b: 3 probes failed.')
  assert.match(
    events[3]?.message ?? '',
    '203.0.113.9 answers on b, 2.5s after the last healthy answer before the move.',
  )
  assert.is(outageS, 2.5)
})

test('an address that stays silent is reported after a while', async () => {
  const { events, outageS } = await report(['A'], 'failed', () => false)
  assert.equal(
    [...new Set(events.map(({ type, reason }) => `${type} ${reason}`))],
    ['Warning ControlPlaneAddressMoved', 'Warning ControlPlaneAddressSilent'],
  )
  assert.match(
    events.at(-1)?.message ?? '',
    'Check that a network interface of that machine has it, and that all API servers are healthy.',
  )
  assert.is(outageS, 0)
})

test('a machine that has the address itself tells nothing about answers', async () => {
  const { events } = await report(['A'], 'failed', () => undefined)
  assert.equal([...new Set(events.map(({ reason }) => reason))], ['ControlPlaneAddressMoved'])
})

test('a move away from a holder that works is no warning, and a machine without a node is named by its id', async () => {
  assert.is((await report(['A'], 'leaving', () => undefined)).events[0]?.type, 'Normal')
  const texts = (await report(['X', 'A'], 'several', () => undefined)).events.map(({ message }) => message)
  assert.match(texts[0] ?? '', 'moved from machine X, a to b')
  assert.match((await report([], 'unassigned', () => undefined)).events[0]?.message ?? '', 'moved from no machine to b')
})

test.run()
