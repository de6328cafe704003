// node bench/run.ts [measure...]: measures the product on this machine, and prints each figure beside its goal.
import { announce } from './announce.ts'
import { burst } from './burst.ts'
import { controlPlane } from './control-plane.ts'
import { create, held } from './create.ts'
import { deletion } from './deletion.ts'
import { drain } from './drain.ts'
import { hanging } from './hanging.ts'
import { handover } from './handover.ts'
import { inNamespaces } from './in-namespaces.ts'
import type { Measure, Row } from './measure.ts'
import { memory } from './memory.ts'
import { page } from './page.ts'
import { settle } from './settle.ts'
import { start } from './start.ts'
import { table } from './table.ts'
import { warm } from './warm.ts'
import { webhook } from './webhook.ts'

const measures: Record<string, Measure> = {
  create,
  held,
  warm,
  burst,
  webhook,
  start,
  handover,
  hanging,
  memory,
  page,
  announce,
  settle: () => settle(),
  scale: () => settle({ services: 3000, nodes: 500 }),
  drain,
  deletion,
  routes: () => inNamespaces('routes.ts'),
  assigned: () => inNamespaces('assigned.ts'),
  flapping: () => inNamespaces('assigned.ts', ['hour']),
  'control-plane': () => controlPlane(),
}

/** These take long or need programs that must be built, so they run only by name. */
const named = ['held', 'deletion', 'scale', 'routes', 'assigned', 'flapping', 'control-plane']

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in measures))
if (unknown.length > 0) {
  console.error(`no measure ${unknown.join(', ')}; there are ${Object.keys(measures).join(', ')}`)
  process.exit(2)
}

const rows: Row[] = []
for (const [name, measure] of Object.entries(measures)) {
  if (wanted.length > 0 ? !wanted.includes(name) : named.includes(name)) continue
  process.stderr.write(`${name} ... `)
  rows.push(...(await measure()))
  process.stderr.write('done\n')
}
console.log(`\n${table(rows)}`)
