import { dirname, join } from 'node:path'
import { isIn } from '../selection.ts'

/** Tests of the whole product take minutes, and need a control plane. */
const farFolders = ['whole', 'matrix', 'rig', 'cluster', 'image', 'site']

/** The unit tests of a file: those of its own folder first, then the others, the nearest first. */
export function testsOf(path: string, sources: ReadonlyMap<string, string>): string[] {
  const tests = importersOf(path, sources).filter(
    (file) => /^test\/.*\.test\.ts$/.test(file) && !farFolders.some((folder) => isIn(folder, file)),
  )
  const isNear = (file: string) => dirname(file) === join('test', dirname(path))
  return [...tests.filter(isNear), ...tests.filter((file) => !isNear(file))]
}

/** Tests of the whole product, which import no room: those first whose path shares the most words with the file's. */
export function farTestsOf(path: string, sources: ReadonlyMap<string, string>): string[] {
  const words = stemsOf(path)
  const shared = (file: string) => [...stemsOf(file)].filter((word) => words.has(word)).length
  return [...sources.keys()]
    .filter((file) => file.endsWith('.test.ts') && ['whole', 'matrix'].some((folder) => isIn(folder, file)))
    .filter((file) => !isIn('rig', file))
    .toSorted((one, other) => shared(other) - shared(one))
}

/** The first letters of each word of a path: "assigning" and "assigned" share them. */
function stemsOf(path: string): Set<string> {
  return new Set((path.match(/[a-z]{4,}/g) ?? []).map((word) => word.slice(0, 5)))
}

/** The files that import a file, those that import it directly first. */
function importersOf(path: string, sources: ReadonlyMap<string, string>): string[] {
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
