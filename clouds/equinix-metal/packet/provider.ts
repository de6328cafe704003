import { equinixMetal } from '../client.ts'
import { makeBgp } from '../../dialect/bgp.ts'
import { type SettingsOf, withProvider } from '../../dialect/define-dialect.ts'
import { serviceAnnotationNames } from '../../dialect/annotations.ts'
import { packet } from './settings.ts'
import { SettingsError } from '../../../settings/problems.ts'
import { placesOf } from '../../../settings/setting.ts'
import { oneOf } from '../../../lib/text.ts'
import { type CloudTools, cloudPorts, cloudTimeouts, controlPlaneOf } from '../../dialect/provider-parts.ts'
import { machineId } from '../machines.ts'
import { maxPrefixes } from '../peering.ts'
import { makePolicy } from '../../dialect/policy.ts'
import { vendorHttp } from '../../http/client.ts'
import { fieldsOf, textOf } from '../../http/loose-json.ts'
import { CloudError } from '../../ports/cloud.ts'
import type { CloudProvider } from '../../ports/cloud-provider.ts'

type Settings = SettingsOf<typeof packet>

const { marks, announcerMarks, controlPlaneService } = packet.names

/** The ASN of Packet's routers, if neither the settings nor the API say it. */
const otherPeerAsn = 65_530

/** Equinix Metal in the dialect of Packet's cloud controller manager, version 1: its locations are facilities. */
async function makeProvider(settings: Settings, tools: CloudTools): Promise<CloudProvider> {
  const { apiKey, projectId, baseUrl, peerAsn } = settings
  const { userAgent, proxy, observe, reserves } = tools
  const tuning = { userAgent, proxy, observe, ...cloudTimeouts(settings) }
  const loadBalancer = settings.disableLoadBalancer ? ({ kind: 'none' } as const) : settings.loadBalancer
  // Without load balancing we reserve no address and need no location.
  const isLocated = reserves && loadBalancer.kind !== 'none'
  const facility = isLocated ? await findFacility(settings, tools) : settings.facility
  return {
    ...cloudPorts(equinixMetal({ apiKey, projectId, baseUrl, places: 'facilities', peerAsn, otherPeerAsn, ...tuning })),
    providerIds: { scheme: 'packet', older: ['equinixmetal'], id: machineId },
    // The predecessor went on with BGP and node annotations when it disabled load balancing: kube-vip may need them.
    bgp: dialectBgp(settings, settings.loadBalancer),
    project: { id: projectId, setting: oneOf(placesOf(packet.rows.projectId)) },
    marks,
    loadBalancer,
    announcerMarks,
    controlPlane: controlPlaneOf({ tag: settings.eipTag }),
    unsupported: [],
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService,
      annotations: serviceAnnotationNames(packet, settings),
      locationSettings: [{ kind: 'setting', word: 'facility', name: 'PACKET_FACILITY_NAME', value: facility }],
      locationAnnotations: [],
    }),
  }
}

/** Everything of the dialect that other rooms may know. */
export const packetDialect = withProvider(packet, makeProvider)

/** The facility of the settings, or else the facility of this host. */
async function findFacility({ facility, metadataUrl }: Settings, tools: CloudTools): Promise<string> {
  if (facility !== undefined) return facility
  const { userAgent, proxy, observe, log, signal } = tools
  try {
    const ofHost = await facilityOfHost({ url: metadataUrl, userAgent, proxy, observe }, signal)
    log.info({ facility: ofHost }, 'addresses are reserved in the facility of this host')
    return ofHost
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error
    const { title } = packet.rows.facility
    const wrong = `not set, and the metadata service of this host did not answer (${error.message})`
    throw new SettingsError([{ setting: title, wrong, right: `set ${oneOf(placesOf(packet.rows.facility))}` }])
  }
}

/** The facility of the machine on which we run, from its metadata service; it needs no key and exists only there. */
export async function facilityOfHost(
  { url, ...tuning }: { url: string; userAgent: string } & Partial<Pick<CloudTools, 'proxy' | 'observe'>>,
  signal: AbortSignal,
): Promise<string> {
  const http = vendorHttp({
    ...tuning,
    vendor: 'The metadata service',
    baseUrl: url,
    headers: () => ({}),
    errorText: (body) => textOf(fieldsOf(body).error),
    // Elsewhere the connection is not refused but stays open.
    readTimeoutMs: 5_000,
  })
  const { body } = await http.call({ name: 'metadata', method: 'GET', path: ['metadata'] }, signal)
  const facility = textOf(fieldsOf(body).facility)
  if (facility !== undefined) return facility.toLowerCase()
  throw new CloudError('The metadata service names no facility', { fault: 'unavailable', outcome: 'nothing' })
}

function dialectBgp(settings: Settings, loadBalancer: CloudProvider['loadBalancer']): CloudProvider['bgp'] {
  return makeBgp(loadBalancer, {
    project: { asn: settings.localAsn, password: undefined },
    maxPrefixes,
    names: {
      localAsn: settings.annotationLocalAsn,
      peerAsn: settings.annotationPeerAsns,
      peerAddress: settings.annotationPeerIps,
    },
  })
}
