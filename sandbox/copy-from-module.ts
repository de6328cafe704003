import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

/** A Go module, the folder whose go.mod pins it, and which files of its source are copied to which folder. */
export type Copy = { module: string; dir: string; pattern: string; into: string }

/** Copies source files of a Go module, such as its CRDs. */
export async function copyFromModule({ module, dir, pattern, into }: Copy): Promise<void> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: dir })
  const { Dir: source } = JSON.parse(stdout) as { Dir: string }
  mkdirSync(into, { recursive: true })
  // Reads and writes instead of copying: the module cache is read-only, and a copy would keep its mode.
  for (const file of globSync(pattern, { cwd: source }))
    writeFileSync(join(into, basename(file)), readFileSync(join(source, file)))
}
