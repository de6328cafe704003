import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { namespaced } from '../sandbox/rig/namespace.ts'
import { prepareWholeRig } from '../sandbox/rig/prepare.ts'
import type { Row } from './measure.ts'

/** Measures in another process, which has a network of its own and prints its rows as JSON. */
export async function inNamespaces(entry: string, words: string[] = []): Promise<Row[]> {
  // The network has no way out, so all programs are built before.
  const problem = await prepareWholeRig()
  if (problem !== undefined) throw new Error(`this machine cannot measure ${entry}: ${problem}`)
  const [program = '', ...args] = namespaced([process.execPath, join(import.meta.dirname, entry), ...words])
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${entry} ended with ${code}`)
  return JSON.parse(text) as Row[]
}
