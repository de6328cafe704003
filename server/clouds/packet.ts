import { equinixMetal } from '../../clouds/equinix-metal.ts'
import { facilityOfHost } from '../../clouds/equinix-metal/metadata.ts'
import { bgpOf } from '../bgp.ts'
import type { SettingsOf } from '../settings/dialects.ts'
import { packet } from '../settings/dialects/packet.ts'
import { SettingsError } from '../settings/problems.ts'
import { placesOf } from '../settings/setting.ts'
import { oneOf } from '../settings/words.ts'
import { type CloudProvider, type CloudTools, missingOf, portsOf, timeoutsOf } from './cloud-provider.ts'
import { machineId, maxPrefixes } from './metal.ts'
import { policyOf } from './policy.ts'

type Settings = SettingsOf<'packet'>

/** Equinix Metal, as Packet's cloud controller manager of version 1 spoke of it: in facilities. */
export async function packetProvider(settings: Settings, tools: CloudTools): Promise<CloudProvider> {
  const { apiKey, projectId, baseUrl, peerAsn } = settings
  const { userAgent, observe } = tools
  const tuning = { userAgent, observe, ...timeoutsOf(settings) }
  const loadBalancer = settings.disableLoadBalancer ? ({ kind: 'none' } as const) : settings.loadBalancer
  // Without load balancing no address is reserved anywhere.
  const facility = loadBalancer.kind === 'none' ? settings.facility : await facilityIn(settings, tools)
  return {
    ...portsOf(equinixMetal({ apiKey, projectId, baseUrl, places: 'facilities', peerAsn, ...tuning })),
    providerIds: { scheme: 'packet', older: ['equinixmetal'], id: machineId },
    bgp: bgpIn(settings, loadBalancer),
    project: projectId,
    marks: { usage: 'packet-ccm-auto', separator: '.', adoptsUnmarked: true },
    loadBalancer,
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'packet' },
      advertisement: 'packet-bgp-adv',
      counting: 'nomatch.packet.com',
    },
    missing: missingOf([settings.eipTag]),
    policy: policyOf(settings, {
      loadBalancer,
      controlPlaneService: 'kube-system/packet-ccm-kubernetes-external',
      annotations: { known: [] },
      places: {
        ofCluster: [{ kind: 'setting', word: 'facility', name: 'PACKET_FACILITY_NAME', value: facility }],
        ofService: [],
      },
    }),
  }
}

/** The facility that is set, else the one that we are in. */
async function facilityIn({ facility, metadataUrl }: Settings, tools: CloudTools): Promise<string> {
  if (facility !== undefined) return facility
  const { userAgent, observe, log, signal } = tools
  try {
    const ofHost = await facilityOfHost({ url: metadataUrl, userAgent, observe }, signal)
    log.info({ facility: ofHost }, 'addresses are reserved in the facility of this host')
    return ofHost
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error
    const { title } = packet.rows.facility
    const wrong = `not set, and this host does not know its own (${error.message})`
    throw new SettingsError([{ setting: title, wrong, right: `set ${oneOf(placesOf(packet.rows.facility))}` }])
  }
}

function bgpIn(settings: Settings, loadBalancer: CloudProvider['loadBalancer']): CloudProvider['bgp'] {
  return bgpOf(loadBalancer, {
    project: { asn: settings.localAsn, password: undefined },
    maxPrefixes,
    names: {
      localAsn: settings.annotationLocalAsn,
      peerAsn: settings.annotationPeerAsns,
      peerAddress: settings.annotationPeerIps,
    },
  })
}
