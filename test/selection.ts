// Which test files run, in which dialects, and which of their tests.
import { type DialectName, bgpDialectNames, dialectNames } from '../sandbox/dialect-names.ts'
import { type DialectsOfFile, dialectsByFile } from './matrix/dialects-by-file.ts'

/**
 * A process: a file, and for a file in a folder `matrix` the dialect that it tests. `cloudOnly` leaves out the tests
 * that do not involve the cloud.
 */
export type Run = { file: string; dialect?: DialectName; cloudOnly?: true }

/**
 * The runs whose title contains every word. A file of the matrix runs in the dialects of its row in the table, or in
 * the dialect that a word names. A file for every cloud with BGP runs in no other dialect.
 */
export function selectRuns(files: string[], words: string[]): Run[] {
  const namesDialect = words.some((word) => (dialectNames as readonly string[]).includes(word))
  return files
    .flatMap((file): Run[] => {
      if (!isIn('matrix', file)) return [{ file }]
      const { complete, cloudOnly = [] } = dialectsOf(file)
      const possible = complete === bgpDialectNames ? bgpDialectNames : dialectNames
      if (namesDialect) return possible.map((dialect) => ({ file, dialect }))
      return [
        ...complete.map((dialect) => ({ file, dialect })),
        ...cloudOnly.map((dialect) => ({ file, dialect, cloudOnly: true as const })),
      ]
    })
    .filter((run) => words.every((word) => titleOf(run).includes(word)))
}

/** An argument with a space in it is a phrase from the name of a test; any other is a word that selects files. */
export function sortArguments(args: string[]): { words: string[]; phrases: string[] } {
  const { words = [], phrases = [] } = Object.groupBy(args, (arg) => (/\s/.test(arg) ? 'phrases' : 'words'))
  return { words, phrases }
}

/** The title of a run on the terminal. */
export function titleOf({ file, dialect, cloudOnly }: Run): string {
  return [file, dialect ?? [], cloudOnly ? '(cloud only)' : []].flat().join(' ')
}

/** Whether the run needs an API server. */
export function usesApiServer({ file }: Run): boolean {
  return (
    ['whole', 'matrix', 'rig'].some((folder) => isIn(folder, file)) || file.includes('announcing/configure-objects')
  )
}

/** Whether the run needs namespaces of its own, with root and a network with routers. */
export function isRigged({ file }: Run): boolean {
  return isIn('rig', file)
}

/** Whether the run needs a cluster of real nodes. */
export function usesNodes({ file }: Run): boolean {
  return isIn('cluster', file)
}

/** Whether only root can do what the run does, without namespaces of its own. */
export function needsRoot({ file }: Run): boolean {
  return file.endsWith('image/dockerfile.test.ts')
}

/** Files of the rig in whose networks no MetalLB runs. */
export const withoutMetallb = [
  'rig/assigned',
  'rig/announce-cilium',
  'rig/calico-filter',
  'rig/control-planes/',
  'rig/kube-vip',
]

/** Whether the run may start MetalLB. All programs are built before, because the run cannot reach a registry. */
export function usesMetallb(run: Run): boolean {
  return isRigged(run) && !withoutMetallb.some((part) => run.file.includes(part))
}

/** The dialects of a file in a folder `matrix`, as its row says; all of them without a row. */
export function dialectsOf(file: string): DialectsOfFile {
  const name = file.slice(file.indexOf('matrix/') + 'matrix/'.length).replace('.test.ts', '')
  return dialectsByFile[name] ?? { complete: bgpDialectNames }
}

/** Whether a file is in a folder of this name. */
export function isIn(folder: string, file: string): boolean {
  return file.split('/').includes(folder)
}
