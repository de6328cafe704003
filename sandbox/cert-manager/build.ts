// Builds cert-manager from the Go module in this folder, once.
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { goPrograms } from '../go-programs.ts'

const module = 'github.com/cert-manager/cert-manager'

/** The program, and the folder with the definitions that it needs. */
export type CertManagerPrograms = { certManager: string; crds: string }

/** Returns cert-manager with its cainjector, and builds it if it is missing: a minute or two the first time. */
export async function certManagerPrograms(): Promise<CertManagerPrograms> {
  const dir = import.meta.dirname
  const folder = await goPrograms({
    name: 'cert-manager',
    version: 'v1.21.2',
    dir,
    programs: [{ name: 'cert-manager', package: '.', built: 'cert-manager' }],
    flags: ['-trimpath', '-ldflags', '-s -w'],
    takes: 'a minute or two on 2 cores',
    add: (into) => copyDefinitions(dir, into),
  })
  return { certManager: join(folder, 'cert-manager'), crds: join(folder, 'crds') }
}

async function copyDefinitions(dir: string, into: string): Promise<void> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: dir })
  const { Dir: source } = JSON.parse(stdout) as { Dir: string }
  mkdirSync(join(into, 'crds'))
  // Reads and writes instead of copying: the module cache is read-only, and a copy would keep its mode.
  for (const file of globSync('deploy/crds/*.yaml', { cwd: source }))
    writeFileSync(join(into, 'crds', basename(file)), readFileSync(join(source, file)))
}

if (import.meta.main) console.log(await certManagerPrograms())
