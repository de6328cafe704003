import type { Location } from '../clouds/cloud.ts'
import type { Service } from '../kube/objects.ts'
import { keyOf } from '../kube/objects.ts'
import { type Claim, type ClaimResult, claimSpecOf } from '../ledger/claim/claim-spec.ts'
import { addressAnnotation, serviceFinalizer } from '../ledger/record/names.ts'
import { annotationsRequesting, outdatedRequestAnnotations } from '../ledger/want/own-address.ts'
import { type Policy, type Want, want } from '../ledger/want/want.ts'
import { type Decision, type Operation, allow, mistake, patch, refuse } from './decision.ts'
import { generateName } from './generate-name.ts'
import { reserveAddress } from './identities.ts'
import type { AdmissionRequest } from './review.ts'
import { servicePatch } from './service-patch.ts'
import { newProblems, problemText, serviceOf, shownAddress } from './service-rules.ts'
import type { Webhook } from './webhook.ts'

export type ServiceMutatingDeps = {
  policy: Policy
  /** The cloud's locations, where they are known. */
  locations: () => Location[] | undefined
  claim: (claim: Claim, signal: AbortSignal) => Promise<ClaimResult>
  /** The address that the ledger holds for a Service, without asking for one. */
  held: (key: string, signal: AbortSignal) => Promise<string | undefined>
  /** What would come of a claim: the address where it is known beforehand, or why there is none. Nothing is written. */
  previewClaim: (claim: Claim, signal: AbortSignal) => Promise<ClaimPreview>
  /** Whether a Service whose address the cloud could not give now is stored without it, or refused. */
  onCloudFailure: 'defer' | 'deny'
  isSelf: (user: string) => boolean
}

export type ClaimPreview = { address?: string | undefined; reason?: string | undefined }

type Reserve = Extract<Want, { kind: 'reserve' | 'named' }>

/** Gives a Service its address while it is being created, and puts back what an update dropped. */
export function serviceMutating(deps: ServiceMutatingDeps): Webhook<Service> {
  return {
    ...reserveAddress,
    decide(request, signal) {
      const service = serviceOf(reserveAddress, request, deps.isSelf)
      if (!service) return allow()
      const known = deps.locations()
      const wanted = want(withoutEcho(deps.policy, service, request.oldObject), deps.policy, known)
      switch (wanted.kind) {
        case 'ignored':
          return allow()
        case 'nothing':
          return leave(deps.policy, service, request.oldObject)
        case 'own':
          return own(deps.policy, service, { address: wanted.address, kept: shownAddress(request.oldObject) })
        case 'reserve':
        case 'named':
          return reserve(deps, { request, service, wanted }, signal)
        case 'wrong': {
          const problems = newProblems(
            wanted,
            request.oldObject ? want(request.oldObject, deps.policy, known) : undefined,
          )
          return problems.length > 0 ? mistake(problemText(service, problems)) : allow()
        }
      }
    },
  }
}

/** What the announcing software was told of an address that a person brought goes with that address. */
function withoutEcho({ requestAnnotations }: Policy, service: Service, old: Service | null): Service {
  const brought = old?.spec.loadBalancerIP
  if (!brought || service.spec.loadBalancerIP) return service
  const gone = annotationsRequesting(service, requestAnnotations, brought).map((name) => [name, undefined])
  const annotations = { ...service.metadata.annotations, ...Object.fromEntries(gone) }
  return { ...service, metadata: { ...service.metadata, annotations } }
}

/** An address that we wrote is still ours when an update has dropped the annotation that says so. */
function own(
  policy: Policy,
  service: Service,
  { address, kept }: { address: string; kept: string | undefined },
): Decision {
  if (address === kept) return patch(withAddress(policy, service, { address }))
  // The validating webhook refuses it, in words that need our annotation to be there.
  if (kept !== undefined) return allow()
  return patch(servicePatch(service, { finalizer: serviceFinalizer, annotations: { [addressAnnotation]: undefined } }))
}

/** The API server keeps spec.loadBalancerIP when the type changes; back as LoadBalancer it would pass for the user's own. */
function leave({ requestAnnotations }: Policy, service: Service, old: Service | null): Decision {
  const shown = service.metadata.annotations?.[addressAnnotation] ?? shownAddress(old)
  if (shown === undefined) return allow()
  const stale = service.spec.loadBalancerIP === shown ? { loadBalancerIP: undefined } : {}
  const asks = annotationsRequesting(service, requestAnnotations, shown)
  return patch(servicePatch(service, { annotations: without([addressAnnotation, ...asks]), ...stale }))
}

type Case = { request: AdmissionRequest<Service>; service: Service; wanted: Reserve }

async function reserve(deps: ServiceMutatingDeps, of: Case, signal: AbortSignal): Promise<Decision> {
  const { request, service, wanted } = of
  const kept = shownAddress(request.oldObject)
  if (kept !== undefined) return patch(withAddress(deps.policy, service, { address: kept }))
  if (request.dryRun) return rehearse(deps, of, signal)

  const { name: given, generateName: prefix } = service.metadata
  const name = given || generateName(prefix ?? '')
  const named = { ...service, metadata: { ...service.metadata, name } }
  const claimed = await deps.claim(claimOf(named, wanted), signal)
  switch (claimed.kind) {
    case 'held':
      return patch(withAddress(deps.policy, service, { address: claimed.address, name }), wanted.warnings)
    case 'refused':
      return refuse(`Service ${keyOf(named)} gets no address: ${claimed.reason}`)
    case 'busy':
    case 'pending': {
      if (deps.onCloudFailure === 'deny')
        return refuse(`Service ${keyOf(named)} gets no address now: ${claimed.reason}`)
      const pending = withAddress(deps.policy, service, { address: undefined, name })
      return patch(pending, [...wanted.warnings, `address pending, it follows in the background: ${claimed.reason}`])
    }
  }
}

/** A dry run: everything is checked, nothing is written or bought. */
async function rehearse(deps: ServiceMutatingDeps, of: Case, signal: AbortSignal): Promise<Decision> {
  const { service, wanted } = of
  const held = service.metadata.name ? await deps.held(keyOf(service), signal) : undefined
  if (held !== undefined) return patch(withAddress(deps.policy, service, { address: held }), wanted.warnings)
  const { address, reason } = await deps.previewClaim(claimOf(service, wanted), signal)
  if (reason !== undefined) return refuse(`Service ${keyOf(service)} gets no address: ${reason}`)
  if (address !== undefined) return patch(withAddress(deps.policy, service, { address }), wanted.warnings)
  const where = wanted.kind === 'named' ? `of ElasticIP ${wanted.elasticIP}` : `in ${wanted.location}`
  const said = `dry run: an address ${where} would be reserved`
  return patch(withAddress(deps.policy, service, { address: undefined }), [...wanted.warnings, said])
}

function claimOf(service: Service, wanted: Reserve): Claim {
  const isShown = service.metadata.annotations?.[addressAnnotation] !== undefined
  return { ...claimSpecOf(wanted), key: keyOf(service), isShown, wait: true }
}

/** The Service as it is to be stored with an address, or while its address is still to come. */
function withAddress(
  { requestAnnotations }: Policy,
  service: Service,
  { address, name = service.metadata.name }: { address: string | undefined; name?: string },
): Operation[] {
  const asks = outdatedRequestAnnotations(service, requestAnnotations, address)
  return servicePatch(service, {
    ...(name ? { name } : {}),
    finalizer: serviceFinalizer,
    annotations: { ...without(asks), ...(address === undefined ? {} : { [addressAnnotation]: address }) },
    ...(address === undefined ? {} : { loadBalancerIP: address }),
  })
}

function without(annotations: string[]): Record<string, undefined> {
  return Object.fromEntries(annotations.map((name) => [name, undefined]))
}
