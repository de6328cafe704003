import type { CloudSettings } from './dialects.ts'
import type { CloudProvider } from './cloud-provider.ts'

/** The names by which a dialect and its predecessors recognize what they wrote. */
export type DialectNames = Pick<CloudProvider, 'marks' | 'announcerMarks'> & { controlPlaneService: string }

/** These names in every dialect. */
export const dialectNames: Record<CloudSettings['dialect'], DialectNames> = {
  'equinix-metal': {
    // The predecessor named load balancers by these marks, too.
    marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.metal.equinix.com',
    },
    controlPlaneService: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
  },
  packet: {
    // Its README says `namespace.name`, which we wrote too at first; the program itself hashes `namespace/name`.
    marks: { usage: 'packet-ccm-auto', separator: '/', otherSeparator: '.', adoptsUnmarked: true },
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'packet' },
      advertisement: 'packet-bgp-adv',
      counting: 'nomatch.packet.com',
    },
    controlPlaneService: 'kube-system/packet-ccm-kubernetes-external',
  },
  'cherry-servers': {
    marks: { usage: 'cloud-provider-cherry-auto', separator: '/' },
    // The predecessor copied these two names from Equinix Metal's program, and its clusters have objects with them.
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.cherryservers.com',
    },
    controlPlaneService: 'kube-system/cloud-provider-cherry-kubernetes-external',
  },
}
