import { setTimeout as sleep } from 'node:timers/promises'
import { restartGuardians, untilGuarded } from '../sandbox/control-planes/guardian.ts'
import type { Loss } from '../sandbox/control-planes/reads.ts'
import type { ControlPlanes } from '../sandbox/control-planes/stage.ts'
import type { Row } from './measure.ts'

const rounds = 10
/** Ten good probes make a candidate. */
const candidateMs = 12_000
const patienceMs = 60_000

type Fault = { inflict: (planes: ControlPlanes) => Promise<() => Promise<unknown>>; quietMs?: number }

const holderOf = ({ cloud, machine }: ControlPlanes) => machine(cloud.holders()[0] ?? 'none')

/** The API server behind the address refuses connections. */
export const refuses = async (planes: ControlPlanes): Promise<Row[]> => {
  const losses = await inRounds(planes, {
    async inflict() {
      const apiServer = holderOf(planes).program('apiServer')
      await apiServer.end()
      return () => apiServer.start()
    },
  })
  return gapRows('API server refuses, time without an answer', losses, 3000)
}

/** It accepts connections and answers nothing. */
export const hangs = async (planes: ControlPlanes): Promise<Row[]> => {
  const losses = await inRounds(planes, {
    async inflict() {
      const apiServer = holderOf(planes).program('apiServer')
      apiServer.pause()
      return async () => apiServer.resume()
    },
  })
  return gapRows('API server hangs, time without an answer', losses, 10_000)
}

/** It answers every request with an error. Its proxy does, so this kind has a run of its own. */
export const errors = async (planes: ControlPlanes): Promise<Row[]> => {
  const losses = await inRounds(planes, {
    async inflict() {
      const holder = holderOf(planes)
      await holder.answer({ status: 500 })
      return () => holder.answer({})
    },
  })
  return gapRows('API server answers with errors, time without a good answer', losses, 3000)
}

/** The machine fails, with the address, the leading guardian, and its lease. */
export const gone = async (planes: ControlPlanes): Promise<Row[]> => {
  const losses = await inRounds(planes, {
    async inflict() {
      const leader = await untilGuarded(planes.machines)
      await planes.cloud.assign(leader.name)
      await planes.client.untilAnswered(3, patienceMs)
      await leader.gone()
      return () => leader.back()
    },
  })
  return gapRows('machine gone with guardian and lease, time without an answer', losses, 8000)
}

/** A node is cordoned before it fails. */
export const cordoned = async (planes: ControlPlanes): Promise<Row[]> => {
  const losses = await inRounds(planes, {
    quietMs: 5000,
    async inflict() {
      const holder = holderOf(planes)
      const at = planes.machines.find(({ name }) => name !== holder.name) ?? holder
      await planes.kubectlAt(at)(['cordon', holder.name])
      return () => planes.kubectlAt(at)(['uncordon', holder.name])
    },
  })
  const lost = losses.map((loss) => loss.lost)
  return [
    {
      measure: 'cordon, lost reads of a client that tries twice',
      unit: 'reads',
      ours: [Math.max(...lost)],
      goal: { of: 'ours', atMost: 0 },
    },
    { measure: 'the same, reads that failed once', unit: 'reads', ours: losses.map(({ failed }) => failed) },
  ]
}

function gapRows(measure: string, losses: Loss[], atMost: number): Row[] {
  const gaps = losses.map(({ longestGapMs }) => longestGapMs)
  return [
    { measure, unit: 'ms', ours: gaps, goal: { of: 'ours', atMost } },
    { measure: 'the same, the longest', unit: 'ms', ours: [Math.max(...gaps)], goal: { of: 'ours', atMost } },
  ]
}

/** Inflicts a fault at random moments, each time on a cluster at rest, and heals it. */
async function inRounds(planes: ControlPlanes, { inflict, quietMs = 0 }: Fault): Promise<Loss[]> {
  const losses: Loss[] = []
  for (let round = 0; round < rounds; round += 1) {
    // Guardians move and yield less often after a recent move, and faults in a cluster are rarely so close together.
    await restartGuardians(planes.machines)
    await planes.client.untilAnswered(10, patienceMs)
    await sleep(candidateMs + Math.random() * 2000)
    const fromMs = Date.now()
    const heal = await inflict(planes)
    await sleep(quietMs)
    await planes.client.untilAnswered(5, patienceMs)
    const loss = await planes.client.lossSince(fromMs)
    losses.push(loss)
    // A round takes a quarter of a minute, so a person who waits sees the progress.
    process.stderr.write(`${Math.round(loss.longestGapMs)} ms, ${loss.failed} failed, ${loss.lost} lost; `)
    await heal()
  }
  return losses
}
