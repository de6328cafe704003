import { dirname, join } from 'node:path'

/** The files that import a file, those that import it directly first. */
export function importersOf(path: string, sources: ReadonlyMap<string, string>): string[] {
  const found = new Set([path])
  // A set is iterated up to what is added meanwhile.
  for (const target of found)
    for (const [file, source] of sources) if (importsIn(file, source).includes(target)) found.add(file)
  return [...found].slice(1)
}

const known = new Map<string, string[]>()

function importsIn(file: string, source: string): string[] {
  const imports =
    known.get(file) ??
    [...source.matchAll(/(?:from|import) '(\.[^']+)'|import\('(\.[^']+)'\)/g)].map(([, from, dynamic]) =>
      join(dirname(file), from ?? dynamic ?? ''),
    )
  known.set(file, imports)
  return imports
}
