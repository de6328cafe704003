// The runs of `make test`, `make test-slow`, `make test-cluster` and `make alert-recordings`. `make test` shows each
// promise once. The rest takes longer than a developer waits: other dialects, walks, real time, real routers and guides
// that are typed word by word.
import { type DialectName, bgpDialectNames, dialectNames } from '../sandbox/dialect-names.ts'
import { type Run, dialectsOf, isIn } from './selection.ts'

export const targets = ['test', 'test-slow', 'test-cluster', 'alert-recordings'] as const
export type Target = (typeof targets)[number]

/** Files or folders that run only in `make test-slow`, with the reason. */
export const slowFiles: Record<string, string> = {
  'rig/':
    'real routers, MetalLBs, Cilium, kube-proxy and pods; several API servers that fail; guides typed word by word',
  'matrix/rig/': 'real routers and MetalLBs',
  'whole/alerts/guardians.test.ts':
    'makes a recording on which `make test` judges the alerts, as `make alert-recordings` does',
  'matrix/chaos.test.ts': 'a random walk',
  'matrix/crash.test.ts': 'a kill at each call and each write of a create and a delete',
  'matrix/available-crash.test.ts': 'the same for addresses that are kept',
  'whole/emlb-crash.test.ts': 'the same for managed balancers',
  'whole/two-addresses-crash.test.ts': 'the same for Services with two addresses',
  'packaging/package.test.ts': 'installs the npm package',
  'matrix/clone.test.ts': 'two API servers of its own, one a copy of the other',
  'matrix/young-copy.test.ts': 'the same, soon after the first start',
  'matrix/restored-backup.test.ts': 'an API server of its own, with older data',
  'matrix/api-server-trouble.test.ts': 'an API server of its own, which fails',
  'matrix/takeover-shapes.test.ts': 'more shapes of predecessors',
  'whole/rolling.test.ts': 'real time: a rolling update under load',
  'whole/hanging.test.ts': 'real time: time-outs of users',
  'whole/flipped-types.test.ts': 'real time: a tenant who changes the types of Services',
  'whole/stranded-connections.test.ts': 'real time: connections that fall silent',
  'whole/docs-guides.test.ts': 'guides typed word by word',
  'whole/remedies/': "doctor's remedies for MetalLB, typed word by word",
  'site/': 'installs the generator of the site and builds it',
  'image/': 'the files of the image, from those of a Debian',
}

/** Real runs whose recordings are kept: `make test` judges the alerts on these, and only a new recording runs them. */
export const recordingFiles = ['cloud', 'neglected', 'processes'].map((name) => `whole/alerts/${name}.test.ts`)

/** The dialects in which a file of the matrix runs in `make test`, unless it is only the first of its row. */
export const fastDialects: Record<string, readonly DialectName[]> = {
  'matrix/smoke.test.ts': dialectNames,
  'matrix/smoke-bgp.test.ts': bgpDialectNames,
  // Only a single move. The other dialects show further cases in real time, for minutes.
  'matrix/control-plane.test.ts': ['packet'],
}

/** The target to which a run belongs. */
export function targetOf({ file, dialect }: Run): Target {
  if (recordingFiles.includes(file)) return 'alert-recordings'
  if (isIn('cluster', file)) return 'test-cluster'
  if (Object.keys(slowFiles).some((slow) => file.startsWith(slow))) return 'test-slow'
  if (!isIn('matrix', file) || dialect === undefined) return 'test'
  const fast = fastDialects[file] ?? dialectsOf(file).complete.slice(0, 1)
  return fast.includes(dialect) ? 'test' : 'test-slow'
}
