import type { Location } from '../clouds/cloud.ts'
import type { Service } from '../kube/objects.ts'
import { addressAnnotation, elasticIPAnnotation, protectAnnotation } from '../ledger/record/names.ts'
import { type Policy, type Want, want } from '../ledger/want/want.ts'
import { allow, mistake } from './decision.ts'
import { type WebhookIdentity, validateService, validateServiceStatus } from './identities.ts'
import type { AdmissionRequest } from './review.ts'
import { isProtected, newProblems, problemText, serviceOf, shownAddress } from './service-rules.ts'
import type { Webhook } from './webhook.ts'

export type ServiceValidatingDeps = {
  policy: Policy
  locations: () => Location[] | undefined
  isSelf: (user: string) => boolean
}

/** Refuses a Service that asks for something that cannot be, as it stands after all other webhooks. */
export function serviceValidating(deps: ServiceValidatingDeps): Webhook<Service> {
  return validating(deps, validateService, () => [])
}

/** Refuses annotations that come with a write of the status, and would not have passed with the Service. */
export function serviceStatusValidating(deps: ServiceValidatingDeps): Webhook<Service> {
  return validating(deps, validateServiceStatus, forgedAddress)
}

type Update = { service: Service; old: Service; now: Want; before: Want }

function validating(
  deps: ServiceValidatingDeps,
  identity: WebhookIdentity,
  more: (update: Update) => string[],
): Webhook<Service> {
  const wantOf = (service: Service) => want(service, deps.policy, deps.locations())
  return {
    ...identity,
    decide(request: AdmissionRequest<Service>) {
      const service = serviceOf(identity, request, deps.isSelf)
      if (!service) return allow()
      const old = request.oldObject
      const now = wantOf(service)
      const before = old ? wantOf(old) : undefined
      const problems = newProblems(now, before)
      if (old && before) {
        const update = { service, old, now, before }
        problems.push(...forbiddenMoves(update), ...forbiddenExit(update), ...more(update))
      }
      return problems.length > 0 ? mistake(problemText(service, problems)) : allow()
    },
  }
}

/** An address cannot follow its Service to another place, nor be exchanged under it. */
function forbiddenMoves({ service, old, now, before }: Update): string[] {
  const shown = shownAddress(old)
  if (shown === undefined || service.spec.type !== 'LoadBalancer') return []
  if (now.kind === 'own') {
    return [
      `${now.where}: "${now.address}" cannot take the place of ${shown}, which is reserved for it: ` +
        'leave it as it is, or delete the Service and create it with an address of your own',
    ]
  }
  if (now.kind === 'named' || before.kind === 'named') return exchangedSource(shown, { now, before })
  if (now.kind !== 'reserve' || before.kind !== 'reserve' || now.location === before.location) return []
  return [
    `its address ${shown} is in ${before.location} and cannot move to ${now.location}: ` +
      'leave the location as it is, or delete the Service and create it there',
  ]
}

function exchangedSource(shown: string, { now, before }: Pick<Update, 'now' | 'before'>): string[] {
  const [source, other] = [before, now].map((of) => (of.kind === 'named' ? of.elasticIP : undefined))
  if (source === other || !['named', 'reserve'].includes(now.kind)) return []
  const whose = source === undefined ? 'is its own' : `is of ElasticIP ${source}`
  return [
    `annotation ${elasticIPAnnotation}: its address ${shown} ${whose} and cannot be exchanged: ` +
      'leave the annotation as it was, or delete the Service and create it anew',
  ]
}

function forbiddenExit({ service, old }: Update): string[] {
  if (!isProtected(old) || service.spec.type === 'LoadBalancer') return []
  return [
    `annotation ${protectAnnotation}: "true" protects its address, and as ${service.spec.type} it would lose it: ` +
      `set the annotation to "false" first`,
  ]
}

/** Nothing mends a status write, so what the mutating webhook would put right is refused here. */
function forgedAddress({ service, old }: Update): string[] {
  const [now, before] = [service, old].map(({ metadata }) => metadata.annotations?.[addressAnnotation])
  return now === before ? [] : [`annotation ${addressAnnotation}: "${now ?? ''}" is ours to write; leave it as it is`]
}
