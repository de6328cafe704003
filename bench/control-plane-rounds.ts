// Measures the control-plane address, at defaults, and prints the rows as JSON. bench/control-plane.ts starts it in
// namespaces of its own; its arguments name the kinds to measure; without arguments it measures all.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardianUsers, startGuardians } from '../sandbox/control-planes/guardian.ts'
import { startControlPlanes } from '../sandbox/control-planes/stage.ts'
import { cordoned, errors, gone, hangs, refuses } from './control-plane-faults.ts'
import { falseMoves } from './control-plane-false-moves.ts'
import { atRest } from './control-plane-rest.ts'
import type { Row } from './measure.ts'

const kinds = { atRest, refuses, hangs, gone, cordoned, errors, falseMoves }
/** A proxy changes what is measured, so these have runs of their own. */
const proxied = ['errors', 'falseMoves']

const wanted = process.argv.slice(2)
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-bench-'))
const proxies = wanted.some((name) => proxied.includes(name)) ? ['control-0', 'control-1', 'control-2'] : []
const planes = await startControlPlanes({ dir, proxies, users: guardianUsers })
try {
  await startGuardians(planes)
  const rows: Row[] = []
  for (const [name, measure] of Object.entries(kinds)) {
    const isWanted = wanted.length === 0 ? !proxied.includes(name) : wanted.includes(name)
    if (isWanted) rows.push(...(await measure(planes)))
  }
  console.log(JSON.stringify(rows))
} finally {
  await planes.stop()
  rmSync(dir, { recursive: true, force: true })
}
