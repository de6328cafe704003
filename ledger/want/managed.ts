import type { Service } from '../../kube/objects.ts'
import { quote } from '../../lib/text.ts'
import { addressAnnotation, balancerFinalizer, elasticIPAnnotation, reclaimAnnotation } from '../record/names.ts'
import type { LocationSource, ManagedPolicy } from '../../settings/service-policy.ts'

/** Whether one of our managed balancers serves a Service, or may exist for it until it is deleted. */
export function hasBalancer(service: Service | null): boolean {
  return service?.metadata.finalizers?.includes(balancerFinalizer) ?? false
}

/** Returns why a managed balancer cannot serve a Service: each reason with its field and what would be right. */
export function managedProblems(service: Service, { locations, annotations: names }: ManagedPolicy): string[] {
  const { annotations = {} } = service.metadata
  const problems = [...portProblems(service), ...familyProblems(service)]
  if (service.spec.allocateLoadBalancerNodePorts === false) {
    problems.push(
      'spec.allocateLoadBalancerNodePorts: "false": a managed load balancer sends to node ports; remove the field',
    )
  }
  if (annotations[elasticIPAnnotation] !== undefined) {
    const name = quote(annotations[elasticIPAnnotation])
    problems.push(
      `annotation ${elasticIPAnnotation}: ${name}: a managed load balancer has its own addresses; remove the annotation`,
    )
  }
  const location = annotations[names.location]
  if (location !== undefined && !locations.some(({ code }) => code === location.toLowerCase())) {
    problems.push(`annotation ${names.location}: ${quote(location)} is not one of ${listOf(locations)}`)
  }
  return problems
}

/** Returns a warning for each request of a Service that a managed balancer does not fulfil. */
export function managedWarnings(
  { metadata, spec }: Service,
  { setting, location }: ManagedPolicy,
  sources: LocationSource[],
): string[] {
  const { annotations = {} } = metadata
  const places = sources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name)
  const ignored = [...places, reclaimAnnotation].filter((name) => annotations[name] !== undefined)
  const warnings = ignored.map(
    (name) =>
      `annotation ${name}: ${quote(annotations[name] ?? '')} has no effect, the load balancer is a managed one ` +
      `(${setting}, in ${location})`,
  )
  if (spec.externalTrafficPolicy === 'Local') {
    warnings.push(
      'spec.externalTrafficPolicy: "Local": a managed load balancer sends to every node, and a node without a Pod of the ' +
        'Service drops the connection; set it to "Cluster"',
    )
  }
  if (spec.loadBalancerIP && spec.loadBalancerIP !== annotations[addressAnnotation]) {
    const address = quote(spec.loadBalancerIP)
    warnings.push(
      `spec.loadBalancerIP: ${address} has no effect, a managed load balancer has its own addresses; remove the field`,
    )
  }
  return warnings
}

/** The codes of locations with their names, for messages. */
function listOf(locations: ManagedPolicy['locations']): string {
  return locations.map(({ code, name }) => `${code} (${name})`).join(', ')
}

function portProblems({ spec }: Service): string[] {
  return (spec.ports ?? []).flatMap(({ port, protocol = 'TCP' }, n) =>
    protocol === 'TCP'
      ? []
      : [
          `spec.ports[${n}].protocol: "${protocol}" for port ${port}: a managed load balancer forwards TCP only; ` +
            'remove the port, or expose it through another Service with a loadBalancerClass',
        ],
  )
}

function familyProblems({ spec }: Service): string[] {
  const { ipFamilyPolicy: policy, ipFamilies: families = [] } = spec
  const remedy = 'set spec.ipFamilyPolicy to "SingleStack" and spec.ipFamilies to ["IPv4"]'
  if (policy === 'RequireDualStack') {
    return [`spec.ipFamilyPolicy: "RequireDualStack": a managed load balancer has IPv4 addresses only; ${remedy}`]
  }
  return families.length > 0 && !families.includes('IPv4')
    ? [`spec.ipFamilies: "${families.join()}": a managed load balancer has IPv4 addresses only; ${remedy}`]
    : []
}
