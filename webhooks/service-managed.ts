import jsonPatch from 'fast-json-patch'
import type { Location } from '../clouds/ports/cloud.ts'
import type { Service } from '../kube/objects.ts'
import { balancerFinalizer, balancerRequestAnnotation } from '../ledger/record/names.ts'
import { hasBalancer } from '../ledger/want/managed.ts'
import { type Want, want } from '../ledger/want/want.ts'
import { type Decision, allow, deny, patch, type AdmissionRequest } from './webhook.ts'
import { besideWarning } from './service-plan.ts'
import { type ServiceChange, servicePatch, withoutAddress } from './service-patch.ts'
import { newProblems, problemText } from './service-rules.ts'
import type { Policy } from '../settings/service-policy.ts'

type Deps = { policy: Policy; locations: () => Location[] | undefined; otherLeader: () => string | undefined }

/**
 * Prepares a Service for its managed balancer, which the controller creates: the finalizer must come first. An update
 * cannot drop the finalizer, or the note of a request that may still succeed.
 */
export function decideManaged(
  { policy, locations, otherLeader }: Deps,
  { request, service }: { request: AdmissionRequest<Service>; service: Service },
): Decision {
  const { oldObject: old } = request
  const wanted = want(service, policy, locations())
  const before = old ? want(old, policy, locations()) : undefined
  const problems = newProblems(wanted, before)
  if (problems.length > 0) return deny('invalid', problemText(service, problems))
  const leader = otherLeader()
  // That program leads, so the finalizer would never be removed.
  if (leader !== undefined && wanted.kind === 'managed' && !hasBalancer(old)) return allow([besideWarning(leader)])
  const { annotations, ...lost }: ServiceChange = wanted.kind === 'nothing' ? withoutAddress(service, old, policy) : {}
  const always = kept(old)
  const operations = servicePatch(service, {
    ...always,
    ...lost,
    ...(wanted.kind === 'managed' && { finalizer: balancerFinalizer }),
    annotations: { ...always.annotations, ...annotations },
  })
  return patch(operations, warningsOf(wanted, { before, isDryRun: request.dryRun === true }))
}

/**
 * Extends a decision so that an update keeps what an existing balancer of an earlier setting needs. Without its
 * finalizer nothing would delete the balancer, which costs money.
 */
export function keepBalancer(
  decision: Decision,
  { service, old }: { service: Service; old: Service | null },
): Decision {
  if (decision.verdict === 'deny') return decision
  const operations = decision.verdict === 'patch' ? decision.patch : []
  const { newDocument: decided } = jsonPatch.applyPatch(structuredClone(service), operations)
  const both = [...operations, ...servicePatch(decided, kept(old))]
  return patch(both, decision.warnings)
}

/** The fields that an update cannot change. */
function kept(old: Service | null): ServiceChange {
  const isBalanced = hasBalancer(old)
  const { annotations = {} } = old?.metadata ?? {}
  return {
    ...(isBalanced && { finalizer: balancerFinalizer }),
    annotations: { [balancerRequestAnnotation]: isBalanced ? annotations[balancerRequestAnnotation] : undefined },
  }
}

/** Warns only of what is new: otherwise every later change of the Service would repeat the warnings. */
function warningsOf(wanted: Want, { before, isDryRun }: { before: Want | undefined; isDryRun: boolean }): string[] {
  if (wanted.kind !== 'managed') return []
  const known = before?.kind === 'managed' ? before.warnings : []
  const warnings = wanted.warnings.filter((warning) => !known.includes(warning))
  const isNew = before?.kind !== 'managed'
  return isDryRun && isNew
    ? [...warnings, `dry run: a managed load balancer in ${wanted.location} would be created`]
    : warnings
}
