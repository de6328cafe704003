// Builds the bundle into dist/bundle, and prints the command line that the image runs: program and flags, without a
// command. Call it as `make -s bundle`.
import { join } from 'node:path'
import process from 'node:process'
import { bundle } from './bundle.ts'
import { commandLine } from './program.ts'

const folder = join(import.meta.dirname, '..', 'dist', 'bundle')
await bundle(folder)
process.stdout.write(`${commandLine(folder).join(' ')}\n`)
