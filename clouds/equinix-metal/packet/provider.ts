import { equinixMetal } from '../client.ts'
import type { SettingsOf } from '../../dialect/define-dialect.ts'
import { type VendorTools, withProvider } from '../../dialect/with-provider.ts'
import { packet } from './settings.ts'
import { SettingsError } from '../../../settings/problems.ts'
import { placesText, titleOf } from '../../../settings/setting.ts'
import { machineId } from '../machines.ts'
import { maxPrefixes } from '../peering.ts'
import { vendorHttp, type VendorHttpOptions } from '../../http/client.ts'
import { fieldsOf, textOf } from '../../http/loose-json.ts'
import { CloudError } from '../../ports/cloud.ts'

/** The ASN of Packet's routers, if neither the settings nor the API name one. */
const otherPeerAsn = 65_530

/** Equinix Metal in the dialect of Packet's cloud controller manager, version 1: its locations are facilities. */
export const packetDialect = withProvider(packet, async (settings, { tuning, log, signal, reserves }) => {
  const { apiKey, projectId, baseUrl, peerAsn } = settings
  // When load balancing was disabled, the predecessor kept BGP and node annotations, because kube-vip may need them.
  const loadBalancer = settings.disableLoadBalancer ? ({ kind: 'none' } as const) : settings.loadBalancer
  // Without load balancing we reserve no address, so we need no location.
  const isLocated = reserves && loadBalancer.kind !== 'none'
  const facility = isLocated ? await findFacility(settings, { tuning, log, signal }) : settings.facility
  return {
    client: equinixMetal({ apiKey, projectId, baseUrl, places: 'facilities', peerAsn, otherPeerAsn, ...tuning }),
    providerIds: { scheme: 'packet', older: ['equinixmetal'], id: machineId },
    bgp: { project: { asn: settings.localAsn, password: undefined }, maxPrefixes },
    project: { id: projectId, setting: placesText(packet.rows.projectId) },
    loadBalancer,
    controlPlane: { tag: settings.eipTag },
    policy: {
      locationSettings: [{ kind: 'setting', word: 'facility', name: 'PACKET_FACILITY_NAME', value: facility }],
    },
  }
})

/** The facility in the settings, or else that of this host. */
async function findFacility(
  { facility, metadataUrl }: SettingsOf<typeof packet>,
  { tuning, log, signal }: Pick<VendorTools, 'tuning' | 'log' | 'signal'>,
): Promise<string> {
  if (facility !== undefined) return facility
  const { userAgent, proxy, observe } = tuning
  try {
    const ofHost = await facilityOfHost({ url: metadataUrl, userAgent, proxy, observe }, signal)
    log.info({ facility: ofHost }, 'addresses are reserved in the facility of this host')
    return ofHost
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error
    const wrong = `not set, and the metadata service of this host did not answer (${error.message})`
    const row = packet.rows.facility
    throw new SettingsError([{ setting: titleOf(row), wrong, right: `set ${placesText(row)}` }])
  }
}

/** The facility of our own machine, from its metadata service, which needs no key and exists only there. */
export async function facilityOfHost(
  { url, ...tuning }: { url: string; userAgent: string } & Pick<VendorHttpOptions, 'proxy' | 'observe'>,
  signal: AbortSignal,
): Promise<string> {
  const http = vendorHttp({
    ...tuning,
    vendor: 'The metadata service',
    baseUrl: url,
    headers: () => ({}),
    errorText: (body) => textOf(fieldsOf(body).error),
    // Elsewhere the connection is not refused, but hangs.
    readTimeoutMs: 5_000,
  })
  const { body } = await http.call({ name: 'metadata', method: 'GET', path: ['metadata'] }, signal)
  const facility = textOf(fieldsOf(body).facility)
  if (facility !== undefined) return facility.toLowerCase()
  throw new CloudError('The metadata service names no facility', { fault: 'unavailable', outcome: 'nothing' })
}
