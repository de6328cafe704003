import type { Service } from '../../kube/objects.ts'

/** Clouds have one IPv4 address for a Service. What it says about a Service that requests other families. */
export type FamilyVerdict = { problem?: string; warning?: string }

/**
 * Whether one IPv4 address is what a Service requests. `matchesFamilies`: the announcing software refuses an address
 * unless its families are exactly those of the Service's cluster IPs.
 */
export function judgeFamilies({ spec }: Service, matchesFamilies: boolean): FamilyVerdict {
  const { ipFamilyPolicy: policy, ipFamilies: families = [] } = spec
  if (policy === 'RequireDualStack') {
    return { problem: `spec.ipFamilyPolicy: "RequireDualStack" requests an IPv4 and an IPv6 address, ${onlyOne}` }
  }
  if (policy !== 'PreferDualStack') {
    return families.length > 0 && !families.includes('IPv4')
      ? { problem: `spec.ipFamilies: "${families.join()}" requests an IPv6 address, ${onlyOne}` }
      : {}
  }
  if (!matchesFamilies) return {}
  const hasBoth = families.length > 1 || (spec.clusterIPs?.length ?? 0) > 1
  return hasBoth
    ? { problem: `spec.ipFamilyPolicy: "PreferDualStack" with two families: ${refusal}, ${onlyOne}` }
    : { warning: `spec.ipFamilyPolicy: "PreferDualStack": where the cluster has two families, ${refusal}` }
}

const refusal = 'MetalLB announces no single address for the Service'
const onlyOne =
  'and an address from the cloud is one IPv4 address: set spec.ipFamilyPolicy to "SingleStack" and spec.ipFamilies to ' +
  '["IPv4"], or name an own address'
