import type { Row } from './measure.ts'
import { bareReserve } from './bare-reserve.ts'
import { inRounds, time } from './samples.ts'
import { bound, createWithAddress, env, onStage, swept } from './stage.ts'

const rounds = 9
const latencyMs = 250

/** From just before the POST of a Service until the answer that carries its address, over one bare reserve call. */
export function create(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    await stage.serve({ env })
    await swept(admin)
    await createWithAddress(admin, 'warm')
    await bareReserve(stage)
    stage.cloud.control.latency.set({ ms: latencyMs })
    const ours: number[] = []
    const bare: number[] = []
    await inRounds(rounds, {
      async ours(round) {
        ours.push(await time(async () => mustHave(await createWithAddress(admin, `web-${round}`))))
        await bound(admin, round + 2)
      },
      async bare() {
        bare.push(await time(() => bareReserve(stage)))
      },
    })
    const beside = { what: 'one bare reserve call', samples: bare }
    return [
      { measure: 'create to address', unit: 'ms', ours, beside, goal: { of: 'ratio', atMost: 1.1 } },
      {
        measure: 'create to address, over the call',
        unit: 'ms',
        ours: ours.map((ms, round) => ms - (bare[round] ?? Number.NaN)),
      },
    ]
  })
}

function mustHave(address: boolean): void {
  if (!address) throw new Error('a Service came back from its creation without an address')
}
