// Which runs belong to `make test` and which to `make test-slow`. `make test` shows each promise once; the other dialects,
// walks, real time, real routers and guides that are typed word by word take longer than a developer waits.
import { type Run, dialectsOf, isIn } from './selection.ts'

export const targets = ['test', 'test-slow'] as const
export type Target = (typeof targets)[number]

/** Files, or folders, that run in `make test-slow` alone, with the reason. */
export const slowFiles: Record<string, string> = {}

/** Files of the matrix that run in `make test` in every dialect of their row; the others do so in its first alone. */
export const inEveryDialect = ['matrix/smoke.test.ts']

/** The target to which a run belongs. */
export function targetOf({ file, dialect }: Run): Target {
  if (Object.keys(slowFiles).some((slow) => file.startsWith(slow))) return 'test-slow'
  const isFirst = !isIn('matrix', file) || dialect === dialectsOf(file).complete[0]
  return isFirst || inEveryDialect.includes(file) ? 'test' : 'test-slow'
}
