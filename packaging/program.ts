import { join } from 'node:path'
import process from 'node:process'

/** The file of a bundle that Node runs; it loads the others. */
export const entryName = 'eip-admission.mjs'

/** The file of a bundle that is the plugin of kubectl. */
export const pluginName = 'kubectl-eip.mjs'

/** Where the image has the bundle, and Node. */
export const appFolder = '/app'
export const imageNode = '/usr/bin/node'

/**
 * How Node runs the bundle: with a small young generation, and with one compiler less, which saves 50 MiB and no time
 * (docs/adr/0049). The heap needs no limit here, because the container's limit already applies.
 */
export const nodeFlags = ['--optimize-for-size', '--no-maglev']

/** The environment of the image. A single malloc arena for all threads saves 9 MiB. */
export const imageEnv = { MALLOC_ARENA_MAX: '1' }

/** The program and its flags that run the bundle in a folder, without our command. */
export function commandLine(folder: string, node = process.execPath): string[] {
  return [node, ...nodeFlags, join(folder, entryName)]
}
