// `node bench/control-plane.ts [kind...]` measures only the given kinds; see control-plane-rounds.ts.
import { inNamespaces } from './in-namespaces.ts'
import type { Row } from './measure.ts'
import { table } from './table.ts'

/** The control-plane address on three real control planes. */
export function controlPlane(kinds: string[] = []): Promise<Row[]> {
  return inNamespaces('control-plane-rounds.ts', kinds)
}

if (import.meta.main) console.log(table(await controlPlane(process.argv.slice(2))))
