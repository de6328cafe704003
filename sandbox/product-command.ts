import { join } from 'node:path'
import { cachedBundle } from '../packaging/cached-bundle.ts'
import { commandLine } from '../packaging/program.ts'

/** A process sets this if many of its children start the product, so that only the parent looks for the bundle. */
export const commandVariable = 'EIP_ADMISSION_COMMAND'

/**
 * The program and arguments that run the product from a bundle of the current sources, as the image does. With
 * `RUN_FROM=source` they run the sources themselves, for a debugger.
 */
export async function productCommand(): Promise<string[]> {
  const given = process.env[commandVariable]
  if (given !== undefined) return JSON.parse(given) as string[]
  const { RUN_FROM: from } = process.env
  if (from === 'source') return [process.execPath, join(import.meta.dirname, '..', 'server', 'main.ts')]
  if (from !== undefined) throw new Error(`RUN_FROM=${from}: it can only be source, or absent to run the bundle`)
  return commandLine(await cachedBundle())
}
