// Three control planes with a guardian on each, for a test file that harms them in many ways, one after the other.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guardianUsers, leaderOf, startGuardians, untilGuarded } from '../../../sandbox/control-planes/guardian.ts'
import type { Machine } from '../../../sandbox/control-planes/machine.ts'
import type { Loss } from '../../../sandbox/control-planes/reads.ts'
import {
  type ControlPlanes,
  type ControlPlanesOptions,
  startControlPlanes,
} from '../../../sandbox/control-planes/stage.ts'
import { eventually } from '../../whole/eventually.ts'

export type Guarded = ControlPlanes & {
  /** The machine that has the address now. */
  holder(): Machine
  /** The machine whose guardian leads. */
  leader(): Promise<Machine>
  /** Waits until another machine has the address, and the network knows it. */
  left(machine: Machine): Promise<true>
  /** Waits until the address answers, all programs run, and every machine could take the address. */
  rest(): Promise<void>
  /** Does something to the control planes, and returns what it caused until the address answers again. */
  after(deed: () => Promise<unknown>, options?: AfterOptions): Promise<Outcome>
  /** Declares a test. After a failure, everything is repaired for the next test, and the logs stay. */
  test(name: string, body: () => Promise<void>): void
  close(): Promise<void>
}

/** How long the address may be silent, how long to wait in any case, and the deed that lets it answer again. */
type AfterOptions = { withinMs?: number; quietMs?: number; answering?: () => Promise<unknown> }

/** The effects of a deed: the machines that had the address afterwards, in order, and the failures that a user saw. */
export type Outcome = { holders: string[]; loss: Loss }

/**
 * Moves may follow each other sooner than by default, and a person's move is noticed sooner, because each file has many
 * tests.
 */
const flags = ['--control-plane-cooldown=1s', '--control-plane-probe-successes=3', '--control-plane-read-interval=5s']

/** With one probe a second, a machine is a candidate after this long. */
const candidateMs = 4000

/** A second move would follow the first one within this time. */
const settleMs = 2500

/** Starts control planes with guardians. The logs stay if a check at the end fails. */
export async function guardControlPlanes(options: Omit<ControlPlanesOptions, 'dir'> = {}): Promise<Guarded> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-control-planes-'))
  const planes = await startControlPlanes({ ...options, dir, users: guardianUsers })
  const { machines, assignment, client, cloud } = planes
  await startGuardians(planes, flags)
  let atRestMs = Date.now() + candidateMs
  let hasFailed = false
  return {
    ...planes,
    holder() {
      const [name = 'none', ...others] = cloud.holders()
      assert.equal(others, [], 'the address is assigned to several machines')
      return planes.machine(name)
    },
    leader: () => eventually('a guardian leads', () => leaderOf(machines)),
    left: ({ name }) =>
      eventually(`the address leaves ${name}`, (observe) => {
        const { machines: held = [], routedMs = Infinity } = observe(assignment.history().at(-1)) ?? {}
        return (held.length === 1 && held[0] !== name && routedMs < Infinity) || undefined
      }),
    async rest() {
      await client.untilAnswered(5, 60_000)
      await untilGuarded(machines)
      await sleep(Math.max(0, atRestMs - Date.now()))
    },
    async after(deed, { withinMs = 60_000, quietMs = 0, answering } = {}) {
      const before = assignment.history().length
      const fromMs = Date.now()
      await deed()
      await sleep(quietMs)
      await answering?.()
      await client.untilAnswered(5, withinMs)
      const [loss] = await Promise.all([client.lossSince(fromMs), sleep(settleMs)])
      atRestMs = Date.now() + candidateMs
      return {
        holders: assignment
          .history()
          .slice(before)
          .flatMap(({ machines: held }) => held),
        loss,
      }
    },
    test(name, body) {
      test(name, async () => {
        try {
          await body()
        } catch (error) {
          hasFailed = true
          console.error(`the logs of a failed test of control planes: ${join(dir, 'logs')}`)
          await repair(planes)
          throw error
        }
      })
    },
    async close() {
      const history = assignment.history()
      await planes.stop()
      assert.equal(
        history.filter(({ machines: held }) => held.length > 1),
        [],
        'two machines had the address at once',
      )
      // On a busy machine the rig itself is late, and its delay is part of what tests measure.
      assert.ok(assignment.lagMs() < 10_000, `the network followed the provider after ${assignment.lagMs()} ms`)
      if (!hasFailed) rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Undoes everything that an unfinished test did. */
async function repair({ cloud, machines }: ControlPlanes): Promise<void> {
  cloud.control.faults.clear()
  cloud.control.latency.clear()
  for (const machine of machines) {
    for (const program of machine.programs.values()) program.resume()
    await machine.back()
    if (machine.programs.has('proxy')) await machine.answer({})
  }
}
