// Which runs belong to `make test` and which to `make test-slow`. `make test` shows each promise once; the other dialects,
// walks, real time, real routers and guides that are typed word by word take longer than a developer waits.
import { type Run, dialectsOf, isIn } from './selection.ts'

export const targets = ['test', 'test-slow'] as const
export type Target = (typeof targets)[number]

/** Files, or folders, that run in `make test-slow` alone, with the reason. */
export const slowFiles: Record<string, string> = {
  'rig/': 'real routers, MetalLBs and pods; several API servers that fail; guides typed word by word',
  'matrix/rig/': 'real routers and MetalLBs',
  'whole/alerts/cloud.test.ts': 'makes recordings on which `make test` judges the alerts',
  'whole/alerts/guardians.test.ts': 'makes such recordings',
  'whole/alerts/neglected.test.ts': 'makes such recordings',
  'whole/alerts/processes.test.ts': 'makes such recordings',
  'matrix/chaos.test.ts': 'a random walk',
  'matrix/crash.test.ts': 'a kill at each call and each write of a create and a delete',
  'matrix/available-crash.test.ts': 'the same for addresses that are kept',
  'whole/emlb-crash.test.ts': 'the same for managed balancers',
  'packaging/package.test.ts': 'installs the npm package',
  'matrix/clone.test.ts': 'two API servers of its own, one a copy of the other',
  'matrix/young-copy.test.ts': 'the same, soon after the first start',
  'matrix/restored-backup.test.ts': 'an API server of its own, with older data',
  'matrix/api-server-trouble.test.ts': 'an API server of its own, which fails',
  'matrix/takeover-shapes.test.ts': 'more shapes of predecessors',
  'whole/rolling.test.ts': 'real time: a rolling update under load',
  'whole/hanging.test.ts': 'real time: time-outs of users',
  'whole/docs-guides.test.ts': 'guides typed word by word',
  'site/': 'installs the generator of the site and builds it',
  'image/': 'the files of the image, from those of a Debian',
}

/** Files of the matrix that run in `make test` in every dialect of their row; the others do so in its first alone. */
export const inEveryDialect = ['matrix/smoke.test.ts']

/** The target to which a run belongs. */
export function targetOf({ file, dialect }: Run): Target {
  if (Object.keys(slowFiles).some((slow) => file.startsWith(slow))) return 'test-slow'
  const isFirst = !isIn('matrix', file) || dialect === dialectsOf(file).complete[0]
  return isFirst || inEveryDialect.includes(file) ? 'test' : 'test-slow'
}
