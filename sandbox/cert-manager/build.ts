// Builds cert-manager from the Go module in this folder, once.
import { join } from 'node:path'
import { copyFromModule } from '../copy-from-module.ts'
import { goPrograms } from '../go-programs.ts'

const module = 'github.com/cert-manager/cert-manager'

/** The program, and the folder with its CRDs. */
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
    add: (into) => copyFromModule({ module, dir, pattern: 'deploy/crds/*.yaml', into: join(into, 'crds') }),
  })
  return { certManager: join(folder, 'cert-manager'), crds: join(folder, 'crds') }
}

if (import.meta.main) console.log(await certManagerPrograms())
