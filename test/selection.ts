// Which test files run, in which dialects, and which of their tests.
import { type DialectName, dialects } from '../sandbox/dialects.ts'
import { dialectsByFile } from './matrix/dialects-by-file.ts'

/** One process: a file, and for a file in a folder `matrix` the dialect that it tests. */
export type Run = { file: string; dialect?: DialectName }

const dialectNames = Object.keys(dialects) as DialectName[]

/**
 * The runs whose title contains every word. A file of the matrix runs in the dialects of its row in the table; where a
 * word names a dialect, it runs in that one.
 */
export function selectRuns(files: string[], words: string[]): Run[] {
  const namesDialect = words.some((word) => (dialectNames as string[]).includes(word))
  return files
    .flatMap((file): Run[] => {
      if (!isIn('matrix', file)) return [{ file }]
      const wanted = namesDialect ? dialectNames : dialectsOf(file)
      return wanted.map((dialect) => ({ file, dialect }))
    })
    .filter((run) => words.every((word) => titleOf(run).includes(word)))
}

/** An argument with a space in it is a phrase from the name of a test; any other is a word that selects files. */
export function sortArguments(args: string[]): { words: string[]; phrases: string[] } {
  const { words = [], phrases = [] } = Object.groupBy(args, (arg) => (/\s/.test(arg) ? 'phrases' : 'words'))
  return { words, phrases }
}

/** How a run is called on the terminal. */
export function titleOf({ file, dialect }: Run): string {
  return dialect === undefined ? file : `${file} ${dialect}`
}

/** Whether the run needs namespaces of its own, with root and a network with routers. */
export function isRigged({ file }: Run): boolean {
  return isIn('rig', file)
}

function dialectsOf(file: string): readonly DialectName[] {
  const name = file.slice(file.indexOf('matrix/') + 'matrix/'.length).replace('.test.ts', '')
  return dialectsByFile[name] ?? dialectNames
}

function isIn(folder: string, file: string): boolean {
  return file.split('/').includes(folder)
}
