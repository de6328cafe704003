import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the project, from which the site takes its pages. */
export const root = join(import.meta.dirname, '..', '..')

/** Pages outside of docs/ that the site has too, and where it shows them. */
export const pagesElsewhere: Record<string, string> = {
  'README.md': 'overview.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'bench/README.md': 'reference/measurements.md',
  'manifests/chart/README.md': 'reference/chart.md',
}

/** The pages and pictures of the site, by their paths in the project. */
export function sitePages(): string[] {
  return [...Object.keys(pagesElsewhere), ...globSync(['docs/*.{md,svg}', 'docs/!(site)/**/*.{md,svg}'], { cwd: root })]
}

/** Where the site shows a file of the project; a README is the index of its folder. Undefined for what it leaves out. */
export function placeOf(file: string): string | undefined {
  const elsewhere = pagesElsewhere[file]
  if (elsewhere !== undefined) return elsewhere
  if (!/^docs\/(?!site\/).*\.(md|svg)$/.test(file)) return undefined
  return file.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md')
}

/** The file that a reader edits to change a page: a generated page is made from a file of its name. */
export function sourceOf(file: string): string {
  if (file === 'manifests/chart/README.md') return 'manifests/generate/files.ts'
  const maker = file.replace(/^docs\/reference\/(.+)\.md$/, 'docs/pages/$1.ts')
  return existsSync(join(root, maker)) ? maker : file
}

/** The first heading of a page, as plain text. */
export function titleOf(file: string): string {
  const [, title = file] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8')) ?? []
  return title.replaceAll('`', '')
}
