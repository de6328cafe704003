import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from '../sandbox/control-planes/machine.ts'
import type { ControlPlanes } from '../sandbox/control-planes/stage.ts'
import type { Row } from './measure.ts'

const minutes = 10

/**
 * Ten minutes of API servers that are slow, flapping or overloaded, but never bad for long enough to justify a move.
 */
export async function falseMoves({ machines, assignment }: ControlPlanes): Promise<Row[]> {
  const before = assignment.history().length
  const endMs = Date.now() + minutes * 60_000
  await Promise.all(machines.map((machine) => trouble(machine, endMs)))
  const moves = assignment.history().length - before
  return [
    {
      measure: 'moves in 10 minutes of slow, flapping, overloaded servers',
      unit: 'moves',
      ours: [moves],
      goal: { of: 'ours', atMost: 0 },
    },
    {
      measure: 'moments with two assignments',
      unit: 'moves',
      ours: [assignment.history().filter((one) => one.machines.length > 1).length],
      goal: { of: 'ours', atMost: 0 },
    },
  ]
}

async function trouble(machine: Machine, endMs: number): Promise<void> {
  const kinds = [slow, flapping, overloaded, () => sleep(5000)]
  while (Date.now() < endMs) await kinds[Math.floor(Math.random() * kinds.length)]?.(machine)
}

async function slow(machine: Machine): Promise<void> {
  await machine.answer({ delayMs: 500 + Math.random() * 1500 })
  await sleep(15_000)
  await machine.answer({})
}

async function flapping(machine: Machine): Promise<void> {
  for (let n = 0; n < 6; n += 1) {
    await machine.answer({ status: 500 })
    await sleep(Math.random() * 1000)
    await machine.answer({})
    await sleep(1000 + Math.random() * 1000)
  }
}

/** The server gets CPU time only in short intervals. */
async function overloaded(machine: Machine): Promise<void> {
  const apiServer = machine.program('apiServer')
  for (let n = 0; n < 8; n += 1) {
    apiServer.pause()
    await sleep(1500)
    apiServer.resume()
    await sleep(500)
  }
}
