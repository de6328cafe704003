import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package whose code is in the bundle. */
export type BundledPackage = { name: string; version: string; licence: string; text: string }

/** The packages that bundled files come from, in order of their names. Throws for one that states no licence. */
export function bundledPackages(root: string, files: string[]): BundledPackage[] {
  const folders = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  const packages = [...new Set(folders)].map((folder) => readPackage(join(root, folder)))
  // One version may lie in several folders.
  const byId = new Map(packages.map((found) => [`${found.name}@${found.version}`, found]))
  return [...byId].toSorted(([a], [b]) => compare(a, b)).map(([, found]) => found)
}

function readPackage(folder: string): BundledPackage {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
  const [name, version] = [String(manifest.name), String(manifest.version)]
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const text = files
    .toSorted(compare)
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join('\n\n')
  if (typeof manifest.license !== 'string' || manifest.license === '')
    throw new Error(`${name}@${version} states no licence in its package.json, so it cannot be shipped`)
  return { name, version, licence: manifest.license, text }
}

/** One text with the licences of all packages. */
export function licenceText(packages: BundledPackage[]): string {
  const parts = packages.map(({ name, version, licence, text }) =>
    [`${name} ${version} (${licence})`, text].filter(Boolean).join('\n\n'),
  )
  return `${['eip-admission contains code of these packages.', ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** The same order on every machine, whatever its language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
