import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { entryName } from './program.ts'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules', '.cache', 'eip-admission')
const rooms =
  'announcers,certs,clouds,commands,controllers,inspect,kube,kubectl-eip,ledger,lib,manifests,packaging,server,settings,status-page,telemetry,webhooks'

/** Bundles of other sources are kept for a while, because runs may still use them. */
const maxAgeMs = 24 * 3600_000

/** The folder with the bundle of the current sources; builds it if it is missing. */
export async function cachedBundle(): Promise<string> {
  const folder = join(cache, `bundle-${sourceHash()}`)
  if (existsSync(join(folder, entryName))) {
    const now = new Date()
    utimesSync(folder, now, now)
    return folder
  }
  const { bundle } = await import('./bundle.ts')
  const staging = `${folder}.${process.pid}`
  await bundle(staging)
  try {
    renameSync(staging, folder)
  } catch (error) {
    // Another process may have been faster; both built the same.
    rmSync(staging, { recursive: true, force: true })
    if (!existsSync(join(folder, entryName))) throw error
  }
  removeOld()
  return folder
}

function sourceHash(): string {
  const hash = createHash('sha256')
  const files = globSync([`{${rooms}}/**/*.ts`, 'package.json', 'package-lock.json'], { cwd: root })
  for (const file of files.toSorted())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}

function removeOld(): void {
  for (const name of globSync('bundle-*', { cwd: cache })) {
    const folder = join(cache, name)
    const facts = statSync(folder, { throwIfNoEntry: false })
    if (facts && Date.now() - facts.mtimeMs > maxAgeMs) rmSync(folder, { recursive: true, force: true })
  }
}
