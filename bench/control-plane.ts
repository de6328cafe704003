// `node bench/control-plane.ts [kind...]` measures some kinds alone; see control-plane-rounds.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findNamespaceProblem, namespaced } from '../sandbox/rig/namespace.ts'
import type { Row } from './measure.ts'
import { table } from './table.ts'

/** The control-plane address on three real control planes; they need a network of their own, so another process measures. */
export async function controlPlane(kinds: string[] = []): Promise<Row[]> {
  const problem = findNamespaceProblem()
  if (problem !== undefined) throw new Error(`this machine cannot run control planes: ${problem}`)
  const entry = join(import.meta.dirname, 'control-plane-rounds.ts')
  const [program = '', ...args] = namespaced([process.execPath, entry, ...kinds])
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`the measurement of the control-plane address ended with ${code}`)
  return JSON.parse(text) as Row[]
}

if (import.meta.main) console.log(table(await controlPlane(process.argv.slice(2))))
