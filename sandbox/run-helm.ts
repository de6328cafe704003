import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { helmProgram } from './helm/build.ts'

/** The folder of the chart. */
export const chartFolder = join(import.meta.dirname, '..', 'manifests', 'chart')

/** Runs helm and returns what it printed; throws with its error. */
export async function runHelm(args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const helm = await helmProgram()
  const { stdout } = await promisify(execFile)(helm, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    maxBuffer: 64 * 2 ** 20,
  })
  return stdout
}
