// node test/chaos/main.ts [--cloud NAME] [--seed N] [--steps N] [--without-alerts] Random actions on Services, the
// cloud and the processes; a seed repeats them. With an even seed there is a warm pool; with a multiple of three,
// people make mistakes with kubectl.
import { parseArgs } from 'node:util'
import { dialectNamed } from '../../sandbox/dialects.ts'
import { walk } from './walk.ts'

const { values } = parseArgs({
  options: {
    cloud: { type: 'string', default: 'equinix-metal' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    steps: { type: 'string', default: '10000' },
    'without-alerts': { type: 'boolean', default: false },
  },
})
const dialect = dialectNamed(values.cloud)
const seed = Number(values.seed)
const steps = Number(values.steps)
const started = performance.now()
console.log(`to repeat this walk: node test/chaos/main.ts --cloud ${dialect} --seed ${seed} --steps ${steps}`)
const tally = await walk({
  dialect,
  seed,
  steps,
  alerts: !values['without-alerts'],
  report: (text) => console.log(text),
})
for (const violation of tally.violations) console.log(`VIOLATION ${violation}`)
const seconds = Math.round((performance.now() - started) / 1000)
console.log(
  `${tally.steps} steps in ${seconds} s, ${tally.faults} faults, ${tally.kills} kills, ${tally.refusals} refusals, ${tally.violations.length} violations`,
)
process.exitCode = tally.violations.length > 0 ? 1 : 0
