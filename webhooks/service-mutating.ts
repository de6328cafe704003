import type { Location } from '../clouds/ports/cloud.ts'
import { keyOf, type Service } from '../kube/objects.ts'
import { type Claim, type ClaimResult, claimSpecOf } from '../ledger/claim/claim-spec.ts'
import { quotaUse } from '../ledger/claim/limits.ts'
import { addressAnnotation } from '../ledger/record/names.ts'
import type { ClusterFamilies, SecondWant } from '../ledger/want/families.ts'
import { sharingProblem } from '../ledger/want/own-address.ts'
import { hasBalancer } from '../ledger/want/managed.ts'
import { familyNames } from '../lib/ip-address.ts'
import { shortRequestId } from '../lib/request-id.ts'
import {
  type ClaimAddress,
  claimAddresses,
  claimSecond,
  type MissingSecond,
  missingSecond,
  secondClaim,
} from './claim-addresses.ts'
import { allow, type Decision, deny, patch, type Webhook, reserveAddress, type AdmissionRequest } from './webhook.ts'
import { decideManaged, keepBalancer } from './service-managed.ts'
import { type AddressWant, type ServicePlan, planBeside, planService, secondWantOf } from './service-plan.ts'
import {
  addressPatch,
  ownAddressPatch,
  poolWarnings,
  removalWarnings,
  servicePatch,
  withoutAddress,
  showAsOurs,
  withoutLostAddress,
} from './service-patch.ts'
import { type IsSelf, isTerminating, problemText, serviceOf, subjectOf } from './service-rules.ts'
import type { Policy } from '../settings/service-policy.ts'
import { randomInt } from 'node:crypto'

export type ServiceMutatingDeps = {
  policy: Policy
  /** The provider's locations, if known. */
  locations: () => Location[] | undefined
  /** The families of the cluster's Services, if known. */
  families: () => ClusterFamilies
  /** All Services in the cache. */
  services: () => readonly Service[]
  /** The Services that use an address. */
  users: (address: string) => readonly Service[]
  claim: ClaimAddress
  /** The address that the ledger holds for a Service. It claims nothing. */
  held: (key: string, signal: AbortSignal) => Promise<string | undefined>
  /**
   * Whether the API server already has a Service of this key, so that it will refuse another one; undefined if unknown.
   */
  exists: (key: string, signal: AbortSignal) => Promise<boolean | undefined>
  /** The result that a claim would have: the address if known, or why the claim would be refused. Writes nothing. */
  previewClaim: (claim: Claim, signal: AbortSignal) => Promise<ClaimPreview>
  /** Whether a Service is stored without its address, or denied, while the provider cannot be reached. */
  onCloudFailure: 'defer' | 'deny'
  isSelf: IsSelf
  /** Another program that holds our lease, as last seen by this process. */
  otherLeader: () => string | undefined
}

export type ClaimPreview = { address?: string | undefined; reason?: string | undefined }

/** Gives a Service its address when it is created, and restores what an update dropped. */
export function serviceMutating(deps: ServiceMutatingDeps): Webhook<Service> {
  return {
    ...reserveAddress,
    async decide(request, signal) {
      const service = serviceOf(reserveAddress, request, deps.isSelf)
      if (!service || isTerminating(request)) return allow()
      if (deps.policy.managed) return decideManaged(deps, { request, service })
      const decision = await decideAddress(deps, { request, service }, signal)
      return hasBalancer(request.oldObject) ? keepBalancer(decision, { service, old: request.oldObject }) : decision
    },
  }
}

async function decideAddress(
  deps: ServiceMutatingDeps,
  { request, service }: Omit<AddressRequest, 'wanted'>,
  signal: AbortSignal,
): Promise<Decision> {
  const { policy } = deps
  const { oldObject: old, dryRun } = request
  const facts = { policy, locations: deps.locations(), families: deps.families() }
  const planned = refuseSharing(deps, { service, old }, planService({ service, old, dryRun }, facts))
  const leader = deps.otherLeader()
  const plan = leader === undefined ? planned : planBeside(leader, planned, old)
  switch (plan.do) {
    case 'leave':
      return allow(plan.warnings)
    case 'take-address':
      return patch(servicePatch(service, withoutAddress(service, old, policy)))
    case 'keep-own':
      return patch(ownAddressPatch(service, plan.address, deps), plan.warnings)
    case 'deny':
      return deny('invalid', problemText(service, plan.problems))
    case 'store-without':
      return store(deps, { service, old, address: undefined }, plan.warnings)
    case 'restore':
      return restoreAddress(deps, { service, old, shown: plan.shown }, signal)
    case 'preview-second':
    case 'claim-second':
      return addSecond(deps, { request, service, ...plan }, signal)
    case 'preview':
      return previewAddress(deps, { request, service, wanted: plan.wanted }, signal)
    case 'claim':
      return claimAddress(deps, { request, service, wanted: plan.wanted }, signal)
  }
}

/** Turns the plan into a denial if it would buy a second address for Services whose user wants them to share one. */
function refuseSharing(
  { policy, services }: ServiceMutatingDeps,
  { service, old }: { service: Service; old: Service | null },
  plan: ServicePlan,
): ServicePlan {
  if (plan.do !== 'claim' && plan.do !== 'preview') return plan
  // A Service that was stored before gets its address, whatever it says now.
  if (old?.spec.type === 'LoadBalancer') return plan
  const problem = sharingProblem(service, services(), policy.requestAnnotations)
  return problem === undefined ? plan : { do: 'deny', problems: [problem] }
}

type Stored = { service: Service; old: Service | null; address: string | undefined; name?: string }

/** Stores a Service with or without its address, and warns of what the patch removes from the update. */
function store(deps: ServiceMutatingDeps, { service, old, ...shown }: Stored, warnings: string[]): Decision {
  const operations = addressPatch(service, shown, deps)
  const more = [...removalWarnings(service, old, operations), ...poolWarnings(service, old, deps.policy)]
  return patch(operations, [...warnings, ...more])
}

type AddressRequest = { request: AdmissionRequest<Service>; service: Service; wanted: AddressWant }

async function claimAddress(
  deps: ServiceMutatingDeps,
  addressRequest: AddressRequest,
  signal: AbortSignal,
): Promise<Decision> {
  const { request, service, wanted } = addressRequest
  const { oldObject: old } = request
  const { name: given, generateName: prefix } = service.metadata
  // The API server refuses a second Service of the same name. A claim for it would reclaim the address of a Service
  // that is being deleted. A client that retries without a pause could keep that Service from ever being deleted.
  const exists = !old && given ? await deps.exists(keyOf(service), signal) : false
  if (exists !== false) {
    const warnings = exists ? [] : [...wanted.warnings, unknownService]
    return store(deps, { service, old, address: undefined }, warnings)
  }
  // A Service's record is named after it, so a Service with generateName gets its name here.
  const name = given || generateName(prefix ?? '')
  const named = { ...service, metadata: { ...service.metadata, name } }
  const use = quotaUse(service, request.oldObject)
  const first = { ...claimOf(named, wanted), uid: old?.metadata.uid, quotaUse: use }
  const { first: claimed, second } = await claimAddresses(
    deps.claim,
    { first, second: secondOf(first, wanted) },
    signal,
  )
  switch (claimed.kind) {
    case 'held':
      return showAddress(deps, addressRequest, { address: claimed.address, name, second })
    case 'refused':
      return deny('forbidden', `Service ${keyOf(named)} gets no address: ${claimed.reason}`)
    case 'busy':
    case 'pending': {
      if (deps.onCloudFailure === 'deny')
        return deny('forbidden', `Service ${keyOf(named)} gets no address now: ${claimed.reason}`)
      const warning = `address pending, the controller assigns it later (request ${shortRequestId(request.uid)}): ${claimed.reason}`
      return store(deps, { service, old, address: undefined, name }, [...wanted.warnings, warning])
    }
  }
}

/** Stores a Service with its address. The second one is not written on it: its record has it. */
function showAddress(
  deps: ServiceMutatingDeps,
  { request, service, wanted }: AddressRequest,
  { address, name, second }: { address: string; name: string; second: ClaimResult | undefined },
): Decision {
  const { denial, warnings } = missingSecond(second, {
    wanted: secondWantOf(wanted),
    onCloudFailure: deps.onCloudFailure,
  })
  if (denial !== undefined) return deny('forbidden', `Service ${service.metadata.namespace}/${name} ${denial}`)
  return store(deps, { service, old: request.oldObject, address, name }, [...wanted.warnings, ...warnings])
}

/** Claims a second address for a Service that shows its first. A dry run only reports the result of the claim. */
async function addSecond(
  deps: ServiceMutatingDeps,
  { request, service, wanted, second, shown }: AddressRequest & { second: SecondWant; shown: string },
  signal: AbortSignal,
): Promise<Decision> {
  const { claim, onCloudFailure } = deps
  const first = { ...claimOf(service, wanted), uid: request.oldObject?.metadata.uid }
  const wantedClaim = secondClaim(first, second)
  const { denial, warnings } = request.dryRun
    ? await previewSecond(deps, { second: wantedClaim, wanted }, signal)
    : missingSecond(await claimSecond(claim, wantedClaim, signal), { wanted: second, onCloudFailure })
  if (denial !== undefined) return deny('forbidden', `Service ${keyOf(service)} ${denial}`)
  const kept = { service, old: request.oldObject, shown, warnings: [...wanted.warnings, ...warnings] }
  return restoreAddress(deps, kept, signal)
}

function secondOf(first: Claim, wanted: AddressWant): Claim | undefined {
  const second = secondWantOf(wanted)
  return second && secondClaim(first, second)
}

const unknownService =
  'address pending, the controller assigns it later: the API server does not say whether a Service of this name exists'

/** Restores what an update dropped of the shown address, if the ledger still holds it for the Service. */
async function restoreAddress(
  deps: ServiceMutatingDeps,
  { service, old, shown, warnings = [] }: { service: Service; old: Service | null; shown: string; warnings?: string[] },
  signal: AbortSignal,
): Promise<Decision> {
  const now = showAsOurs([service, old], shown) ? shown : await deps.held(keyOf(service), signal)
  if (now === shown) return store(deps, { service, old, address: shown }, warnings)
  return patch(servicePatch(service, withoutLostAddress(service, { lost: shown, held: now })), warnings)
}

/** Answers a dry run with the same checks, but writes and reserves nothing. */
async function previewAddress(
  deps: ServiceMutatingDeps,
  { request: { oldObject: old }, service, wanted }: AddressRequest,
  signal: AbortSignal,
): Promise<Decision> {
  const held = service.metadata.name ? await deps.held(keyOf(service), signal) : undefined
  if (held !== undefined) return store(deps, { service, old, address: held }, wanted.warnings)
  const first = claimOf(service, wanted)
  const { address, reason } = await deps.previewClaim(first, signal)
  if (reason !== undefined) return deny('forbidden', `${subjectOf(service)} gets no address: ${reason}`)
  if (address !== undefined) return store(deps, { service, old, address }, wanted.warnings)
  const { denial, warnings } = await previewSecond(deps, { second: secondOf(first, wanted), wanted }, signal)
  if (denial !== undefined) return deny('forbidden', `${subjectOf(service)} ${denial}`)
  const place = wanted.kind === 'named' ? `of ElasticIP ${wanted.elasticIP}` : `in ${wanted.location}`
  const warning = `dry run: an address ${place} would be reserved`
  return store(deps, { service, old, address: undefined }, [...wanted.warnings, warning, ...warnings])
}

async function previewSecond(
  { previewClaim, onCloudFailure }: ServiceMutatingDeps,
  { second, wanted }: { second: Claim | undefined; wanted: AddressWant },
  signal: AbortSignal,
): Promise<MissingSecond> {
  if (!second) return { warnings: [] }
  const { reason } = await previewClaim(second, signal)
  if (reason === undefined)
    return { warnings: [`dry run: an ${familyNames[second.family]} address would be reserved as well`] }
  const refused = { kind: 'refused', reason } as const
  return missingSecond(refused, { wanted: secondWantOf(wanted), onCloudFailure })
}

function claimOf(service: Service, wanted: AddressWant): Claim {
  const isShown = service.metadata.annotations?.[addressAnnotation] !== undefined
  return { ...claimSpecOf(wanted), key: keyOf(service), isShown, wait: true }
}

// The API server's rule for generateName: five of these characters after the prefix, which is cut to fit 63 in all.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const maxLength = 63

/** The name of a Service with generateName. We choose it at admission, because the Service's record is named after it. */
function generateName(prefix: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, maxLength - suffixLength) + suffix
}
