import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlanes } from '../sandbox/control-planes/stage.ts'
import type { Row } from './measure.ts'
import { bareNode, memoryMiB } from './proc.ts'

const minutes = 2

/** The cost of guardians while nothing fails: calls to the provider, and memory. */
export async function atRest({ machines, cloud }: ControlPlanes): Promise<Row[]> {
  // The first checks are over by then.
  await sleep(10_000)
  const { calls } = cloud.control
  calls.clear()
  await sleep(minutes * 60_000)
  const { resident: bare } = await bareNode()
  const guardians = machines.map((machine) => memoryMiB(machine.program('guardian').pid()).resident)
  return [
    {
      measure: 'cloud calls in a minute at rest',
      unit: 'calls',
      ours: [calls.count() / minutes],
      goal: { of: 'ours', atMost: 1 },
    },
    {
      measure: 'memory of a guardian over that of node alone',
      unit: 'MiB',
      ours: guardians.map((resident) => resident - bare),
      goal: { of: 'ours', atMost: 40 },
    },
    {
      measure: 'memory of a guardian',
      unit: 'MiB',
      ours: guardians,
      beside: { what: 'node alone', samples: guardians.map(() => bare) },
    },
  ]
}
