// The words that a person may type after `npm test --`.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { sortArguments } from './selection.ts'

const usage = `npm test -- [WORD...] ['A PHRASE'...] [options]

  WORD                selects files by their paths, in every target. The name of a cloud runs them there.
  'A PHRASE'          selects tests by their names
  --test WORD         the same for a phrase of one word
  --slow              the files of make test-slow
  --cluster           the files of make test-cluster
  --workers N         how many files run at a time, fewer on a crowded machine; above 1, a short one without an API
                      server runs beside them
  --file-timeout S    how many seconds a file may take
  --write-seconds     keeps the durations of the long files, for the order of the next runs
  --dir DIR           the folder of the files`

export type RunArguments = {
  dir: string
  fileTimeoutSeconds: number
  target: 'test' | 'test-slow' | 'test-cluster'
  /** A file runs if its path contains all of these. */
  words: string[]
  /** A test runs if its name contains all of these. */
  testNames: string[]
  workers: number
  writesSeconds: boolean
}

/** Reads the arguments; prints the usage and ends the process if they are wrong, or if a person asks for help. */
export function readArguments(): RunArguments {
  const parsed = parse()
  if (typeof parsed === 'string' || parsed.values.help) {
    console.error(typeof parsed === 'string' ? `${parsed}\n\n${usage}` : usage)
    process.exit(typeof parsed === 'string' ? 2 : 0)
  }
  const { values, positionals } = parsed
  const { words, phrases } = sortArguments(positionals)
  return {
    dir: values.dir,
    fileTimeoutSeconds: Number(values['file-timeout']),
    target: targetOf(values),
    words,
    testNames: [...phrases, ...values.test],
    workers: Number(values.workers),
    writesSeconds: values['write-seconds'],
  }
}

function targetOf(values: { slow: boolean; cluster: boolean }): RunArguments['target'] {
  if (values.cluster) return 'test-cluster'
  return values.slow ? 'test-slow' : 'test'
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        dir: { type: 'string', default: import.meta.dirname },
        'file-timeout': { type: 'string', default: '1200' },
        help: { type: 'boolean', default: false },
        cluster: { type: 'boolean', default: false },
        slow: { type: 'boolean', default: false },
        test: { type: 'string', multiple: true, default: [] },
        'write-seconds': { type: 'boolean', default: false },
        // A fifth file would use the idle eighth of two processors: beside another program, leases would then expire.
        workers: { type: 'string', default: String(Math.min(4, 2 * availableParallelism())) },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
