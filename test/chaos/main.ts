// node test/chaos/main.ts [--seed N] [--steps N]: a seeded walk through everything that can happen to addresses.
import { parseArgs } from 'node:util'
import { walk } from './walk.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    steps: { type: 'string', default: '10000' },
  },
})
const seed = Number(values.seed)
const started = performance.now()
console.log(
  `seed ${seed}, ${values.steps} steps; the same again: node test/chaos/main.ts --seed ${seed} --steps ${values.steps}`,
)
const tally = await walk({ seed, steps: Number(values.steps), tell: (text) => console.log(text) })
for (const violation of tally.violations) console.log(`VIOLATION ${violation}`)
const seconds = Math.round((performance.now() - started) / 1000)
console.log(
  `${tally.steps} steps in ${seconds} s, ${tally.faults} faults, ${tally.kills} kills, ${tally.refusals} refusals, ${tally.violations.length} violations`,
)
process.exitCode = tally.violations.length > 0 ? 1 : 0
