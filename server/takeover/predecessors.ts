import { upstreamFinalizer } from '../../ledger/record/names.ts'
import type { CloudSettings } from '../settings/dialects.ts'

/** What the programs that we replace leave in a cluster, as their own manifests and charts install them. */
export type Predecessor = {
  id: 'equinix-metal' | 'equinix-metal-sidero' | 'packet' | 'cherry-servers'
  /** Its name for people. */
  title: string
  dialect: CloudSettings['dialect']
  /** The last part of its image's name, under whatever registry. */
  image: RegExp
  /** The major versions that we know. A tag without a number, such as `main`, is unknown. */
  versions: readonly number[]
  /** Its workload in its manifests. A chart gives it the name of the release. */
  workload: { namespace: string; name: string }
  /** The value of --cloud-provider in its manifests. */
  provider: string
  /** Whether it elects a leader without a flag: cloud controller managers do, but their manifests turn it off. */
  lease: { namespace: string; name: string }
  /** The Secret of its manifests with its settings, and the key in it. A chart gives the Secret another name. */
  secret: { namespace: string; name: string; key: string }
  /** The mark `usage` of its reservations. */
  usage: string
  /** Whether its reservations name the cluster. */
  marksCluster: boolean
  /** Its finalizers on Services. */
  finalizers: readonly string[]
  /** The Service that shows the control-plane address. */
  mirrorService: { namespace: string; name: string }
  /** How MetalLB's objects of it are recognized: see the announcer's marks of the dialect, which say the same. */
  metallb: { label: { name: string; value: string }; advertisement: string; counting: string }
}

const shared = {
  lease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
  finalizers: [upstreamFinalizer],
}

const equinixMetal = {
  ...shared,
  dialect: 'equinix-metal',
  versions: [3],
  workload: { namespace: 'kube-system', name: 'cloud-provider-equinix-metal' },
  provider: 'equinixmetal',
  secret: { namespace: 'kube-system', name: 'metal-cloud-config', key: 'cloud-sa.json' },
  usage: 'cloud-provider-equinix-metal-auto',
  marksCluster: true,
  mirrorService: { namespace: 'kube-system', name: 'cloud-provider-equinix-metal-kubernetes-external' },
  metallb: {
    label: { name: 'cloud-provider', value: 'equinix-metal' },
    advertisement: 'equinix-metal-bgp-adv',
    counting: 'nomatch.metal.equinix.com',
  },
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
    dialect: 'packet',
    image: /(^|\/)packet-ccm(?=[:@]|$)/,
    versions: [1],
    workload: { namespace: 'kube-system', name: 'packet-cloud-controller-manager' },
    provider: 'packet',
    secret: { namespace: 'kube-system', name: 'packet-cloud-config', key: 'cloud-sa.json' },
    usage: 'packet-ccm-auto',
    marksCluster: false,
    mirrorService: { namespace: 'kube-system', name: 'packet-ccm-kubernetes-external' },
    metallb: {
      label: { name: 'cloud-provider', value: 'packet' },
      advertisement: 'packet-bgp-adv',
      counting: 'nomatch.packet.com',
    },
  },
  {
    ...shared,
    id: 'cherry-servers',
    title: "Cherry Servers' cloud provider",
    dialect: 'cherry-servers',
    image: /(^|\/)cloud-provider-cherry(?=[:@]|$)/,
    versions: [1],
    workload: { namespace: 'kube-system', name: 'cloud-provider-cherry' },
    provider: 'cherryservers',
    secret: { namespace: 'kube-system', name: 'cherry-cloud-config', key: 'cloud-sa.json' },
    usage: 'cloud-provider-cherry-auto',
    marksCluster: true,
    mirrorService: { namespace: 'kube-system', name: 'cloud-provider-cherry-kubernetes-external' },
    metallb: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.cherryservers.com',
    },
  },
]

/** The predecessor whose image this is; undefined for any other program. */
export function predecessorOf(image: string): Predecessor | undefined {
  return predecessors.find((one) => one.image.test(image))
}
