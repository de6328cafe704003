import { splitKey } from '../kube/objects.ts'
import { upstreamFinalizer } from '../ledger/record/names.ts'
import type { AnnouncerMarks } from '../announcers/software.ts'
import { type CloudSettings, dialectNamed } from '../clouds/dialects.ts'

/**
 * A program that we replace, as its own manifests and charts install it. What it writes into the cluster and the cloud is
 * in the names of its dialect, which we share with it.
 */
export type Predecessor = {
  id: 'equinix-metal' | 'equinix-metal-sidero' | 'packet' | 'cherry-servers'
  /** Its name for people. */
  title: string
  dialect: CloudSettings['dialect']
  /** The end of its image's name, under whatever registry. */
  image: RegExp
  /** The major versions that we know. A tag without a number, such as `main`, says none. */
  versions: readonly number[]
  /** The value of --cloud-provider in its manifests. */
  provider: string
  /** Its workload in its manifests. A chart gives it the name of the release. */
  workload: { namespace: string; name: string }
  /** Its lease, if it elects a leader. Older manifests say --leader-elect=false. */
  lease: { namespace: string; name: string }
  /** The Secret of its manifests with its settings, and the key in it. A chart gives the Secret another name. */
  secret: { namespace: string; name: string; key: string }
  /** Its finalizers on Services. */
  finalizers: readonly string[]
  /** How MetalLB's objects of it are recognized. */
  metallb: AnnouncerMarks
  /** The Service that shows the control-plane address. */
  mirrorService: { namespace: string; name: string }
}

/** The names that a predecessor shares with its dialect. */
function namesOf(dialect: Predecessor['dialect']): Pick<Predecessor, 'dialect' | 'metallb' | 'mirrorService'> {
  const { announcerMarks, controlPlaneService } = dialectNamed(dialect).names
  return { dialect, metallb: announcerMarks, mirrorService: splitKey(controlPlaneService) }
}

const shared = {
  lease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
  finalizers: [upstreamFinalizer],
}

const equinixMetal = {
  ...shared,
  ...namesOf('equinix-metal'),
  versions: [3],
  provider: 'equinixmetal',
  workload: { namespace: 'kube-system', name: 'cloud-provider-equinix-metal' },
  secret: { namespace: 'kube-system', name: 'metal-cloud-config', key: 'cloud-sa.json' },
} as const

/** Every predecessor. The first whose image fits counts. */
export const predecessors: readonly Predecessor[] = [
  {
    ...equinixMetal,
    id: 'equinix-metal-sidero',
    title: "Sidero Labs' fork of Equinix Metal's cloud provider",
    image: /(^|\/)siderolabs\/cloud-provider-equinix-metal(?=[:@]|$)/,
  },
  {
    ...equinixMetal,
    id: 'equinix-metal',
    title: "Equinix Metal's cloud provider (CPEM)",
    image: /(^|\/)cloud-provider-equinix-metal(?=[:@]|$)/,
  },
  {
    ...shared,
    id: 'packet',
    title: "Packet's cloud controller manager",
    ...namesOf('packet'),
    image: /(^|\/)packet-ccm(?=[:@]|$)/,
    versions: [1],
    provider: 'packet',
    workload: { namespace: 'kube-system', name: 'packet-cloud-controller-manager' },
    secret: { namespace: 'kube-system', name: 'packet-cloud-config', key: 'cloud-sa.json' },
  },
  {
    ...shared,
    id: 'cherry-servers',
    title: "Cherry Servers' cloud provider",
    ...namesOf('cherry-servers'),
    image: /(^|\/)cloud-provider-cherry(?=[:@]|$)/,
    versions: [1],
    provider: 'cherryservers',
    workload: { namespace: 'kube-system', name: 'cloud-provider-cherry' },
    secret: { namespace: 'kube-system', name: 'cherry-cloud-config', key: 'cloud-sa.json' },
  },
]

/** The predecessor whose image this is; undefined for any other program. */
export function predecessorOf(image: string): Predecessor | undefined {
  return predecessors.find((one) => one.image.test(image))
}

/** The version in the tag of an image, such as `3.8.1`; undefined for `main`, a commit or a digest alone. */
export function versionOf(image: string): string | undefined {
  return /:v?(\d+\.\d+(\.\d+)?(-[\w.]+)?)(@|$)/.exec(image)?.[1]
}
