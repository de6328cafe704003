import type { Location } from '../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../kube/objects.ts'
import { addressAnnotation, elasticIPAnnotation, protectAnnotation } from '../ledger/record/names.ts'
import type { OwnAddress } from '../ledger/want/own-address.ts'
import { optOutAnnotation, type Want, want } from '../ledger/want/want.ts'
import { familyNames } from '../lib/ip-address.ts'
import { firstItems, quote } from '../lib/text.ts'
import {
  type Decision,
  allow,
  deny,
  type Webhook,
  type WebhookIdentity,
  validateService,
  validateServiceStatus,
  protectService,
  type AdmissionRequest,
} from './webhook.ts'
import {
  type IsSelf,
  annotatedAddress,
  isProtected,
  isTerminating,
  newProblems,
  problemText,
  serviceOf,
  newRequests,
  type Requests,
  requestsInDeletion,
  type Reviewed,
} from './service-rules.ts'
import { type Policy, hasClass } from '../settings/service-policy.ts'

export type ServiceValidatingDeps = {
  policy: Policy
  locations: () => Location[] | undefined
  ownAddresses: {
    check: (wanted: Want, service: Service) => Want
    /** The check for a Service whose address another program provides. */
    checkForeign: (wanted: Want, service: Service) => Want
    /** Reads what the check needs, within the time of a review. */
    refresh: (wanted: Want, signal: AbortSignal) => Promise<void>
  }
  isSelf: IsSelf
}

/** Denies a Service whose request cannot be met, after all mutating webhooks have changed it. */
export function serviceValidating(deps: ServiceValidatingDeps): Webhook<Service> {
  return validating(deps, validateService, () => [])
}

/** Denies annotations in a write of the status that the Service itself could not have. */
export function serviceStatusValidating(deps: ServiceValidatingDeps): Webhook<Service> {
  return validating(deps, validateServiceStatus, addressAnnotationProblems)
}

type Update = { service: Service; old: Service; now: Want; before: Want }

function validating(
  deps: ServiceValidatingDeps,
  identity: WebhookIdentity,
  otherProblems: (update: Update) => string[],
): Webhook<Service> {
  const wantOf = (service: Service) => want(service, deps.policy, deps.locations())
  return {
    ...identity,
    async decide(request: AdmissionRequest<Service>, signal: AbortSignal) {
      const service = serviceOf(identity, request, deps.isSelf)
      if (!service) return allow()
      const old = request.oldObject
      const before = old ? wantOf(old) : undefined
      const wanted = wantOf(service)
      const reviewed = { service, old, wanted, before }
      // Software may announce the Service until it is deleted. No other mistake matters then.
      if (isTerminating(request))
        return decideRequested(deps, { service, ...requestsInDeletion(reviewed, deps.policy) }, signal)
      const problems = newProblems(wanted, before)
      if (old && before) {
        const update = { service, old, now: wanted, before }
        problems.push(
          ...addressChangeProblems(update, deps.policy),
          ...protectionProblems(update),
          ...otherProblems(update),
        )
        problems.push(...addedRequestProblems(update, deps.policy))
      }
      if (problems.length > 0) return deny('invalid', problemText(service, problems))
      const decision = await decideRequested(deps, { service, ...newRequests(reviewed, deps.policy) }, signal)
      const warning = ineffectiveText(reviewed, deps.policy)
      if (decision.verdict !== 'allow' || warning === undefined) return decision
      return allow([...(decision.warnings ?? []), warning])
    },
  }
}

/** Warns of annotations for other providers that a review adds or changes. Nothing reads them on a Service that we serve. */
function ineffectiveText({ service, old, wanted }: Reviewed, { annotations }: Policy): string | undefined {
  if (!['own', 'reserve', 'named', 'managed'].includes(wanted.kind)) return undefined
  const before = old?.metadata.annotations ?? {}
  const changed = Object.entries(service.metadata.annotations ?? {})
    .filter(([name, value]) => before[name] !== value)
    .map(([name]) => name)
    .filter((name) => annotations.ineffective?.some((prefix) => name.startsWith(prefix)))
  const names = firstItems(changed).join(', ')
  return names === '' ? undefined : `${names}: an annotation of another provider, which eip-admission does not read`
}

/** More addresses than any software gives to one Service, so that a review ends in time. */
const maxRequested = 16

async function decideRequested(
  { ownAddresses, policy }: ServiceValidatingDeps,
  { service, addresses: requested, mistakes }: Requests & { service: Service },
  signal: AbortSignal,
): Promise<Decision> {
  if (mistakes.length > 0) return deny('invalid', problemText(service, mistakes))
  if (requested.length > maxRequested) {
    const many = `${requested[0]?.where} requests ${requested.length} addresses: request at most ${maxRequested}`
    return deny('invalid', problemText(service, [many]))
  }
  const wanted = requested.map(({ address, where }): Want => ({ kind: 'own', address, where }))
  await Promise.all(wanted.map((one) => ownAddresses.refresh(one, signal)))
  // This request comes after all users of the address, however old the Service is and whatever it shows.
  const { creationTimestamp: _created, ...metadata } = service.metadata
  const check = optOutAnnotation(service, policy) === undefined ? ownAddresses.check : ownAddresses.checkForeign
  const checked = wanted.map((one) => check(one, { ...service, metadata, status: {} }))
  const problems = checked.flatMap((one) => (one.kind === 'wrong' ? one.problems : []))
  const warnings = checked.flatMap((one) => (one.kind === 'own' && one.doubt ? [one.doubt.reason] : []))
  return problems.length > 0 ? deny('invalid', problemText(service, problems)) : allow(warnings)
}

/** The problems of a Service that moves its address to another location, or exchanges it. */
function addressChangeProblems({ service, old, now, before }: Update, policy: Policy): string[] {
  const shown = annotatedAddress(old)
  if (shown === undefined || service.spec.type !== 'LoadBalancer') return []
  if (now.kind === 'own') return [exchangeProblem(now, shown)]
  if (now.kind === 'wrong')
    return newRequests({ service, old, wanted: now, before }, policy).addresses.map((own) =>
      exchangeProblem(own, shown),
    )
  if (now.kind === 'foreign') {
    return [
      `${now.reason}, and ${shown} is reserved for it: ` +
        'remove the annotation, or delete the Service and create it again with its own addresses',
    ]
  }
  if (now.kind === 'named' || before.kind === 'named') return sourceChangeProblems(shown, { now, before })
  if (now.kind !== 'reserve' || before.kind !== 'reserve' || now.location === before.location) return []
  return [
    `its address ${shown} is in ${before.location} and cannot move to ${now.location}: ` +
      `keep the location, or delete the Service and create it again in ${now.location}`,
  ]
}

function exchangeProblem({ where, address }: OwnAddress, shown: string): string {
  return (
    `${where}: ${quote(address)} cannot replace ${shown}, which is reserved for it: ` +
    `keep ${shown}, or delete the Service and create it again with your own address`
  )
}

function sourceChangeProblems(shown: string, { now, before }: Pick<Update, 'now' | 'before'>): string[] {
  const [source, other] = [before, now].map((of) => (of.kind === 'named' ? of.elasticIP : undefined))
  if (source === other || !['named', 'reserve'].includes(now.kind)) return []
  const origin = source === undefined ? 'was reserved for it' : `comes from ElasticIP ${source}`
  return [
    `annotation ${elasticIPAnnotation}: its address ${shown} ${origin} and cannot be changed: ` +
      'restore the annotation, or delete the Service and create it again',
  ]
}

/** The problems of annotations that make software withdraw an address that it already announces. */
function addedRequestProblems({ service, old }: Update, { classes, requestAnnotations }: Policy): string[] {
  const { annotations, stopsIfAdded: software } = requestAnnotations
  const { loadBalancerIP: address } = old.spec
  const areBoth = [old, service].every(({ spec }) => spec.type === 'LoadBalancer')
  if (software === undefined || !areBoth || !address || !hasClass(service, classes)) return []
  const has = ({ metadata }: Service, name: string) => metadata.annotations?.[name] !== undefined
  return annotations
    .filter((name) => has(service, name) && !has(old, name))
    .map(
      (name) =>
        `annotation ${name}: ${software} would treat it as a change of a Service that already has ${address}, and announce ` +
        'nothing until it is restarted: remove the annotation, spec.loadBalancerIP suffices',
    )
}

/** The problems of an update that would cost a protected Service its address. */
function protectionProblems({ service, old, now, before }: Update): string[] {
  if (!isProtected(old)) return []
  const second = before.kind === 'reserve' && now.kind === 'reserve' && !now.second ? before.second : undefined
  if (second)
    return [
      `annotation ${protectAnnotation}: "true" protects its addresses, and it would lose the ${familyNames[second.family]} ` +
        'one: set the annotation to "false" first',
    ]
  const reason = lossReason({ service, now, before })
  if (reason === undefined) return []
  return [
    `annotation ${protectAnnotation}: "true" protects its address, which it would lose because ${reason}: ` +
      `set ${protectAnnotation} to "false" first`,
  ]
}

/** Why an update takes an address from a Service. Exchanging a shown address is denied to all Services. */
function lossReason({ service, now, before }: Omit<Update, 'old'>): string | undefined {
  if (before.kind === 'nothing') return undefined
  if (now.kind === 'nothing') return now.reason
  const { type = 'ClusterIP' } = service.spec
  if (type !== 'LoadBalancer') return `its type is ${type}`
  // The addresses of a managed balancer are not ours.
  return before.kind === 'managed' && now.kind === 'foreign' ? now.reason : undefined
}

/** No mutating webhook repairs a write of the status, so the validating one denies what it would restore. */
function addressAnnotationProblems({ service, old }: Update): string[] {
  const [now, before] = [service, old].map(({ metadata }) => metadata.annotations?.[addressAnnotation])
  if (now === before) return []
  const change = now === undefined ? 'remove it' : `set it to ${quote(now)}`
  return [`annotation ${addressAnnotation}: only eip-admission writes it; do not ${change}`]
}

/** Denies the deletion of a Service whose address is protected. */
export function serviceProtect(deps: { isSelf: IsSelf }): Webhook<Service> {
  return {
    ...protectService,
    decide(request) {
      const service = serviceOf(protectService, request, deps.isSelf)
      if (!service || isTerminating(request) || !isProtected(service)) return allow()
      return deny(
        'forbidden',
        `Service ${keyOf(service)} is protected by annotation ${protectAnnotation}: "true"; ` +
          `set it to "false" first: kubectl annotate service -n ${service.metadata.namespace} ` +
          `${service.metadata.name} ${protectAnnotation}=false --overwrite`,
      )
    },
  }
}
