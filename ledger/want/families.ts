import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../../kube/objects.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'

type Family = NonNullable<Service['spec']['ipFamilies']>[number]

/** The families of the cluster's Services: the one of a Service that requests none, and whether there are two. */
export type ClusterFamilies = { primary: Family; isDual: boolean | undefined }

/**
 * Why one IPv4 address, all that clouds have for a Service, is not what it requests. `matchesFamilies`: the announcing
 * software refuses an address unless its families are exactly those of the Service's cluster IPs.
 */
export function familyProblem({ spec }: Service, matchesFamilies: boolean): string | undefined {
  const { ipFamilyPolicy: policy, ipFamilies: families = [], clusterIPs = [] } = spec
  if (policy === 'RequireDualStack') {
    return `spec.ipFamilyPolicy: "RequireDualStack" requests an IPv4 and an IPv6 address, ${onlyOne}`
  }
  if (families.length > 0 && !families.includes('IPv4')) {
    return `spec.ipFamilies: "${families.join()}" requests an IPv6 address, ${onlyOne}`
  }
  const hasBoth = families.length > 1 || clusterIPs.length > 1
  return policy === 'PreferDualStack' && hasBoth && matchesFamilies
    ? `spec.ipFamilyPolicy: "PreferDualStack" with two families: MetalLB announces no single address for the Service, ${onlyOne}`
    : undefined
}

const onlyOne =
  'and an address from the cloud is one IPv4 address: set spec.ipFamilyPolicy to "SingleStack" and spec.ipFamilies to ' +
  '["IPv4"], or name an own address'

/**
 * A Service with the policy and the families that the API server will store. It sets them after the mutating webhooks, and
 * by then an address would be reserved in vain.
 *
 * | the Service                                    | stored with                                         |
 * | ---------------------------------------------- | --------------------------------------------------- |
 * | whose update leaves both as they were          | the same                                            |
 * | without a policy, that names two families      | RequireDualStack, both                              |
 * | that prefers two families, the cluster has two | both                                                |
 * | that names a family, or a cluster IP of it     | that family                                         |
 * | any other                                      | the primary family of the cluster                   |
 */
export function withStoredFamilies(
  service: Service,
  old: Service | null,
  { primary, isDual = false }: ClusterFamilies,
): Service {
  const { spec } = service
  if (spec.type === 'ExternalName' || (old && !changesFamilies(service, old))) return service
  const named = namedFamilies(service)
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? (named.length > 1 ? 'RequireDualStack' : 'SingleStack')
  const [first = primary] = named
  const both: Family[] = first === 'IPv4' ? ['IPv4', 'IPv6'] : ['IPv6', 'IPv4']
  const isBoth = ipFamilyPolicy === 'RequireDualStack' || (ipFamilyPolicy === 'PreferDualStack' && isDual)
  return { ...service, spec: { ...spec, ipFamilyPolicy, ipFamilies: isBoth ? both : [first] } }
}

/** Whether nobody knows how many families the Service will have, because that depends on the cluster. */
export function hasOpenFamilies(service: Service, old: Service | null, { isDual }: ClusterFamilies): boolean {
  const { ipFamilyPolicy: policy } = service.spec
  return policy === 'PreferDualStack' && isDual === undefined && (!old || changesFamilies(service, old))
}

/** Whether the cluster has two families, as its stored Services show; undefined if none of them shows it. */
export function isDualStack(services: readonly Service[]): boolean | undefined {
  const hasTwo = ({ spec }: Service) => (spec.ipFamilies?.length ?? 0) > 1
  if (services.some(hasTwo)) return true
  return services.some(({ spec }) => spec.ipFamilyPolicy === 'PreferDualStack') ? false : undefined
}

function changesFamilies({ spec }: Service, { spec: old }: Service): boolean {
  return !isDeepStrictEqual([spec.ipFamilyPolicy, spec.ipFamilies], [old.ipFamilyPolicy, old.ipFamilies])
}

function namedFamilies({ spec }: Service): Family[] {
  if (spec.ipFamilies?.length) return spec.ipFamilies
  const addresses = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP])
  return addresses.flatMap((text) => {
    const address = parseIpAddress(text)
    return address ? [address.family === 'ipv4' ? 'IPv4' : 'IPv6'] : []
  })
}
