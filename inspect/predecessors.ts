import { splitKey } from '../kube/objects.ts'
import { upstreamFinalizer } from '../ledger/record/names.ts'
import type { AnnouncerMarks } from '../announcers/software.ts'
import { type Dialect, type DialectPredecessor, isImageOf } from '../clouds/dialect/define-dialect.ts'
import { dialects } from '../clouds/dialects.ts'
import { oneOf } from '../lib/text.ts'

/**
 * A program that we replace. Its traces in the cluster and at the provider have the names of its dialect, which we
 * share with it.
 */
export type Predecessor = DialectPredecessor & {
  /** The name of its dialect. */
  dialect: string
  /** The value of --cloud-provider in its manifests. */
  provider: string
  /** Its lease, if it elects a leader. Older manifests say --leader-elect=false. */
  lease: { namespace: string; name: string }
  /** How to recognize the objects that it wrote for MetalLB. */
  metallb: AnnouncerMarks
  /** The Service that shows the control-plane address. */
  mirrorService: { namespace: string; name: string }
}

/** Every predecessor. The first whose image fits counts. */
export const predecessors: readonly Predecessor[] = dialects.flatMap(predecessorsOf)

/** The images of all predecessors, for messages. */
export const replacedPrograms = oneOf([
  ...new Set(dialects.flatMap((dialect) => dialect.predecessors.map(({ image }) => image.replace(/^.*\//, '')))),
])

function predecessorsOf({ name, providers: [provider = name], names, predecessors: programs }: Dialect): Predecessor[] {
  return programs.map((program) => ({
    ...program,
    dialect: name,
    provider,
    lease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
    metallb: names.announcerMarks,
    mirrorService: splitKey(names.controlPlaneService),
  }))
}

/** The running version; undefined for `main`, a commit or only a digest, and for an image with another name. */
export function runningVersion({
  image,
  predecessor,
}: {
  image: string
  predecessor: Predecessor
}): string | undefined {
  return isImageOf(predecessor, image) ? versionOf(image) : undefined
}

/**
 * The finalizers that a release of a predecessor puts on Services. A version without a number counts as a current one.
 */
export function finalizersOf({ finalizesSince }: Predecessor, version: string | undefined): string[] {
  if (finalizesSince === undefined) return []
  return version !== undefined && isBefore(version, finalizesSince) ? [] : [upstreamFinalizer]
}

/** Whether a version is older than a release, such as `3.4`. */
export function isBefore(version: string, release: string): boolean {
  return version.localeCompare(release, 'en', { numeric: true }) < 0
}

/** The version in the tag of an image, such as `3.8.1`; undefined for `main`, a commit or only a digest. */
export function versionOf(image: string): string | undefined {
  return /:v?(\d+\.\d+(\.\d+)?(-[\w.]+)?)(@|$)/.exec(image)?.[1]
}
