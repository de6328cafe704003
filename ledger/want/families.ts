import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../../kube/objects.ts'
import { type IpFamily, familyNames, parseIpAddress } from '../../lib/ip-address.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { addressAnnotation } from '../record/names.ts'

type Family = NonNullable<Service['spec']['ipFamilies']>[number]

/** The families of the cluster's Services: the default for a Service that requests none, and whether there are two. */
export type ClusterFamilies = { primary: Family; isDual: boolean | undefined }

/** A Service's address of the second family. It may be missing unless it is required. */
export type SecondWant = { family: IpFamily; isRequired: boolean }

type FamilyPolicy = Pick<Policy, 'families' | 'matchesFamilies' | 'isDualStack'>

/**
 * The families of the addresses that a Service gets from the provider, and why they differ from its request.
 *
 * The first address is of the family that the Service already shows as ours, else of its first family. So a Service
 * keeps its address when it gets a second one.
 */
export function familiesWanted(
  service: Service,
  policy: FamilyPolicy,
): { family: IpFamily; second?: SecondWant; problem?: string } {
  if (!policy.isDualStack || !requestsTwo(service)) return familyWanted(service, policy)
  const { ipFamilyPolicy, ipFamilies: families = [] } = service.spec
  const isRequired = ipFamilyPolicy === 'RequireDualStack'
  const shown = parseIpAddress(service.metadata.annotations?.[addressAnnotation] ?? '')
  const first = shown?.family ?? (families[0] === 'IPv6' ? 'ipv6' : 'ipv4')
  return { family: first, second: { family: first === 'ipv4' ? 'ipv6' : 'ipv4', isRequired } }
}

/** Whether the fields of a Service request an address of each family, whatever the settings offer. */
export function requestsTwo({ spec: { ipFamilyPolicy, ipFamilies = [] } }: Pick<Service, 'spec'>): boolean {
  return ipFamilyPolicy === 'RequireDualStack' || (ipFamilyPolicy === 'PreferDualStack' && ipFamilies.length > 1)
}

/**
 * The family of the only address that a Service gets, and why it differs from the request. A Service with both families
 * gets IPv4. `matchesFamilies`: the announcing software refuses an address whose family does not match exactly the
 * Service's cluster IPs.
 */
export function familyWanted(
  { spec }: Service,
  { families: offered, matchesFamilies }: Pick<FamilyPolicy, 'families' | 'matchesFamilies'>,
): { family: IpFamily; problem?: string } {
  const { ipFamilyPolicy: policy, ipFamilies: families = [], clusterIPs = [] } = spec
  const isSix = families.length > 0 && !families.includes('IPv4')
  const family = isSix && offered.includes('ipv6') ? 'ipv6' : 'ipv4'
  const only = onlyOne(offered)
  if (policy === 'RequireDualStack')
    return { family, problem: `spec.ipFamilyPolicy: "${policy}" requests an IPv4 and an IPv6 address, ${only}` }
  if (isSix && family === 'ipv4')
    return { family, problem: `spec.ipFamilies: "${families.join()}" requests an IPv6 address, ${only}` }
  const hasBoth = families.length > 1 || clusterIPs.length > 1
  if (policy !== 'PreferDualStack' || !hasBoth || !matchesFamilies) return { family }
  const refused = `with two families: the announcing software cannot announce a single address for the Service, ${only}`
  return { family, problem: `spec.ipFamilyPolicy: "${policy}" ${refused}` }
}

function onlyOne(offered: readonly IpFamily[]): string {
  const [what, set] = offered.includes('ipv6') ? ['address', '["IPv4"] or ["IPv6"]'] : ['IPv4 address', '["IPv4"]']
  return `and a Service gets one ${what} from the provider: set spec.ipFamilyPolicy to "SingleStack" and spec.ipFamilies to ${set}, or name a user-chosen address`
}

/**
 * A Service with the policy and the families that the API server will store. It sets them only after the mutating
 * webhooks, too late for the reserve. An update that replaces the whole Service keeps the cluster IPs and the policy that
 * it does not name. An ExternalName has neither.
 */
export function withStoredFamilies(
  service: Service,
  old: Service | null,
  { primary, isDual = false }: ClusterFamilies,
): Service {
  const { spec } = service
  const before = old && old.spec.type !== 'ExternalName' ? old : undefined
  if (spec.type === 'ExternalName' || (before && !changesFamilies(service, before))) return service
  const { clusterIPs, ipFamilyPolicy: kept } = before?.spec ?? {}
  const named = namedFamilies({ spec: { ...(clusterIPs && { clusterIPs }), ...spec } })
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? kept ?? 'SingleStack'
  const [first = primary] = named
  const both: Family[] = first === 'IPv4' ? ['IPv4', 'IPv6'] : ['IPv6', 'IPv4']
  const isBoth = ipFamilyPolicy === 'RequireDualStack' || (ipFamilyPolicy === 'PreferDualStack' && isDual)
  return { ...service, spec: { ...spec, ipFamilyPolicy, ipFamilies: isBoth ? both : [first] } }
}

/**
 * Whether the API server will refuse the families of a Service, after the mutating webhooks. The Service requires two
 * where the cluster has one, newly names two without a policy for two, or names one that the cluster lacks.
 */
export function areFamiliesRefused(service: Service, old: Service | null, cluster: ClusterFamilies): boolean {
  const { ipFamilyPolicy } = withStoredFamilies(service, old, cluster).spec
  const hasOne = cluster.isDual === false
  if (ipFamilyPolicy === 'RequireDualStack') return hasOne
  if (old && !changesFamilies(service, old)) return false
  const named = namedFamilies(service)
  if (ipFamilyPolicy === 'SingleStack' && named.length > 1) return !old || !isDeepStrictEqual(named, namedFamilies(old))
  return hasOne && named.some((family) => family !== cluster.primary)
}

/** Whether it is still unknown how many families the Service will have, because that depends on the cluster. */
export function hasOpenFamilies(service: Service, old: Service | null, { isDual }: ClusterFamilies): boolean {
  const { ipFamilyPolicy: policy } = service.spec
  return policy === 'PreferDualStack' && isDual === undefined && (!old || changesFamilies(service, old))
}

/** Whether the stored Services show that the cluster has two families; undefined if none of them tells. */
export function isDualStack(services: readonly Service[]): boolean | undefined {
  // The API server stores a headless Service without a selector with both families, even in a single-stack cluster.
  const telling = services.map(({ spec }) => spec).filter(({ clusterIP }) => clusterIP !== 'None')
  if (telling.some(({ ipFamilies = [] }) => ipFamilies.length > 1)) return true
  return telling.some(({ ipFamilyPolicy }) => ipFamilyPolicy === 'PreferDualStack') ? false : undefined
}

function changesFamilies({ spec }: Service, { spec: old }: Service): boolean {
  return !isDeepStrictEqual([spec.ipFamilyPolicy, spec.ipFamilies], [old.ipFamilyPolicy, old.ipFamilies])
}

function namedFamilies({ spec }: Pick<Service, 'spec'>): Family[] {
  if (spec.ipFamilies?.length) return spec.ipFamilies
  const addresses = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP])
  return addresses.flatMap((text) => {
    const address = parseIpAddress(text)
    return address ? [familyNames[address.family]] : []
  })
}
