import type { ManagedFieldsEntry } from '../../kube/managed-fields.ts'
import { type Key, keyOf, type Service } from '../../kube/objects.ts'
import type { LedgerWork } from '../../ledger/ledger.ts'
import type { AddressKey, ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { familyNames } from '../../lib/ip-address.ts'
import { firstItems } from '../../lib/text.ts'
import { addressAnnotation, serviceFinalizer, upstreamFinalizer } from '../../ledger/record/names.ts'
import { withoutSharedFields } from '../../ledger/record/shared-fields.ts'
import { annotationsRequesting, outdatedRequestAnnotations } from '../../ledger/want/own-address.ts'
import { type Outcome, Terminal } from '../loop/reconciler.ts'
import { patch, patchSharedStatus, patchStatus, withoutAnnotations } from './patch-service.ts'
import { conditionOf, deletingEvent, ensuredEvent, failedEvent } from './service-condition.ts'
import { hasAnnotations } from './service-state.ts'
import type { ServiceStep } from './service-step.ts'
import {
  type WithdrawalDeps,
  cancelWithdrawal,
  clearStatus,
  hideInStatus,
  notWithdrawn,
  restoreService,
  withdraw,
} from './withdrawal.ts'

export type StepDeps = WithdrawalDeps & {
  ledger: LedgerWork
  release: ReturnType<LedgerWork['releaseWith']>
  /** Called for each Service that admission should have completed, but did not review. */
  onMissedByAdmission: () => void
}

/** Carries out one step; an outcome ends the reconcile. */
export type CarryOut = (
  step: ServiceStep,
  at: { key: AddressKey; service: Service | undefined },
  signal: AbortSignal,
) => Promise<Outcome | undefined>

/** How soon we check again whether a record or a reservation is free or deleted. */
const pollMs = 5_000

/** How soon we try again to get a second address that the Service can do without. */
const preferredMs = 600_000

/** How soon we retry a release that waits for the first sweep. */
const checkMs = 250

/** Carries out one step for a Service and its record. */
export function serviceSteps(deps: StepDeps): CarryOut {
  return async (step, { key, service }, signal) => {
    if (step.do === 'release') return release(deps, { step, service }, signal)
    if (step.do === 'postpone-release') return postponeRelease(deps, { record: step.record, service }, signal)
    if (step.do === 'report-wait') {
      if (service) deps.event(service, deletingEvent(step.reason))
      return { againInMs: step.againInMs }
    }
    // Their owners must decide which Service keeps the address.
    if (step.do === 'report-shared')
      throw new Error(
        `address ${step.address} is not released while another Service shows it: ${step.services.join(', ')}`,
      )
    if (step.do === 'correct-record') return correctRecord(deps, { step, service }, signal)
    if (step.do === 'retain') await deps.ledger.retain(step.record, signal)
    else if (step.do === 'hold-record') await deps.ledger.holdRecord(step.record, signal)
    else if (step.do === 'observe-record') await deps.ledger.observeRecord(step.record, signal)
    else if (step.do === 'bind') await bind(deps, { ...step, service }, signal)
    else if (step.do === 'set-reclaim-policy') await deps.ledger.setReclaimPolicy(step, signal)
    else if (step.do === 'note-protection') await deps.ledger.noteProtection(step, signal)
    else if (service) return carryOutOnService(deps, { step, key, service }, signal)
    return undefined
  }
}

type StepOnService = Exclude<ServiceStep, { record: ElasticIP } | { do: 'report-wait' | 'report-shared' }>

async function carryOutOnService(
  deps: StepDeps,
  { step, key, service }: { step: StepOnService; key: AddressKey; service: Service },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { finalizers = [] } = service.metadata
  const write = (change: object) => patch(deps.client, service, change)
  switch (step.do) {
    case 'add-finalizer':
      return addFinalizer(deps, service)
    case 'remove-finalizers':
      deps.event(service, { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' })
      return write({ metadata: { finalizers: finalizers.filter((name) => !removed(step).includes(name)) } })
    case 'recover-records':
      if (await deps.ledger.recoverRecords({ service: key, address: step.address }, signal)) return undefined
      return carryOutOnService(deps, { step: step.otherwise, key, service }, signal)
    case 'show-address':
      return write(showingPatch(deps, service, step.address))
    case 'hide-address':
      return write(hidingPatch(deps, service, step.address))
    case 'announce':
      return announce(deps, service, step)
    case 'yield-fields':
      return write({ metadata: { managedFields: yieldedFields(service) } })
    case 'restore-service':
      return restoreService(deps, service, step.change)
    case 'withdraw':
      return withdraw(deps, service)
    case 'report-withdrawal':
      throw new Error(notWithdrawn(deps.announcer.name))
    case 'clear-status':
      return clearStatus(deps, service, step)
    case 'hide-in-status':
      return hideInStatus(deps, service, step.addresses)
    case 'claim':
      return claim(deps, { step, key, service }, signal)
    case 'report-problems':
      throw new Terminal(firstItems(step.problems).join('; '))
  }
}

/** Corrects a record into which a person wrote another Service's address. Until then nothing relies on it. */
async function correctRecord(
  deps: StepDeps,
  { step, service }: { step: Extract<ServiceStep, { do: 'correct-record' }>; service: Service | undefined },
  signal: AbortSignal,
): Promise<undefined> {
  const { record, rival } = step
  const { name } = record.metadata
  const address = await deps.ledger.correctRecord(record, signal)
  const wrong = `ElasticIP ${name} had address ${record.status?.address}, which is that of ElasticIP ${rival.metadata.name}`
  if (address === undefined)
    throw new Error(
      `${wrong}, and the provider has no address for it. Nothing is changed: remove status.address and ` +
        `status.reservationID of ElasticIP ${name} (\`kubectl edit eip ${name} --subresource=status\`)`,
    )
  const message = `${wrong}. The provider says that it is ${address}: the ElasticIP is corrected`
  if (service) deps.event(service, { type: 'Warning', reason: 'ContradictoryAddress', message })
}

/** For the API server an empty list means no change, and a list with an empty entry means no managers. */
function yieldedFields({ metadata }: Service): ManagedFieldsEntry[] {
  const kept = withoutSharedFields(metadata.managedFields)
  return kept.length > 0 ? kept : [{}]
}

/** Admission adds the finalizer to every Service that it reviews, so it has not reviewed this one. */
async function addFinalizer(deps: StepDeps, service: Service): Promise<undefined> {
  const { finalizers = [] } = service.metadata
  await patch(deps.client, service, { metadata: { finalizers: [...finalizers, serviceFinalizer] } })
  // A Service with the upstream finalizer predates us.
  if (!finalizers.includes(upstreamFinalizer)) deps.onMissedByAdmission()
}

async function bind(
  deps: StepDeps,
  { record, uid, service }: { record: ElasticIP; uid: string; service: Service | undefined },
  signal: AbortSignal,
): Promise<void> {
  await deps.ledger.bind({ record, uid }, signal)
  // Admission returned the address to its previous Service.
  if (record.spec.claimRef?.uid === uid) warnOfReturn(deps, service)
}

function removed({ only }: Extract<ServiceStep, { do: 'remove-finalizers' }>): string[] {
  return only === 'ours' ? [serviceFinalizer] : [serviceFinalizer, upstreamFinalizer]
}

async function claim(
  deps: StepDeps,
  { step, key, service }: { step: Extract<ServiceStep, { do: 'claim' }>; key: AddressKey; service: Service },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  deps.event(service, { type: 'Normal', reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' })
  const { do: _do, second, ...spec } = step
  const which = second ? `${familyNames[second.family]} address` : 'address'
  const isShown = service.metadata.annotations?.[addressAnnotation] !== undefined
  const claimed = await deps.ledger.claims.claim(
    { ...spec, key, uid: service.metadata.uid, isShown, wait: false },
    signal,
  )
  switch (claimed.kind) {
    case 'held':
      return undefined
    case 'pending':
    case 'busy':
      deps.event(service, failedEvent(`${second ? which : 'Address'} pending: ${claimed.reason}`))
      return { againInMs: ('retryAfterMs' in claimed ? claimed.retryAfterMs : undefined) ?? pollMs }
    case 'refused':
      if (!second || second.isRequired) throw new Error(`no ${which}: ${claimed.reason}`)
      deps.event(
        service,
        failedEvent(`No ${which}: ${claimed.reason}. The Service prefers two and has one; eip-admission tries again`),
      )
      return { againInMs: preferredMs }
  }
}

async function announce(
  { client, now, event }: StepDeps,
  service: Service,
  { request, condition, isShared }: Extract<ServiceStep, { do: 'announce' }>,
): Promise<undefined> {
  const { annotations, status } = request
  const isAnnotated = hasAnnotations(service, annotations)
  if (!isAnnotated) await patch(client, service, { metadata: { annotations } })
  // A shared status must be written on the version that was read, but the annotations have changed it.
  if (!status || (isShared && !isAnnotated)) return
  const change = { ...status, ...(condition && { conditions: [conditionOf(service, condition, now())] }) }
  await (isShared ? patchSharedStatus : patchStatus)(client, service, change)
  if (condition) event(service, ensuredEvent({ status }))
}

async function release(
  deps: StepDeps,
  { step, service }: { step: Extract<ServiceStep, { do: 'release' }>; service: Service | undefined },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const result = await deps.release(step, signal)
  const say = (message: string) => {
    if (service) deps.event(service, deletingEvent(message))
    return undefined
  }
  if (typeof result === 'object') return say(passedText(step, result.passedTo))
  switch (result) {
    case 'released':
    case 'found':
      return undefined
    case 'unchecked':
    case 'unshared':
      return { againInMs: checkMs }
    case 'waiting':
      say(waitingText)
      return { againInMs: pollMs, isHeld: true }
    case 'request-in-flight':
      say('The provider is still reserving its address. It is released when the provider has answered')
      return { againInMs: pollMs }
    case 'kept':
      warnOfReturn(deps, service)
      return undefined
  }
}

function passedText({ record }: { record: ElasticIP }, heir: Key): string {
  return `Address ${record.status?.address} stays reserved: it now belongs to Service ${heir}, which also uses it`
}

const waitingText =
  "Its address is released in a few minutes: this leader first makes sure that no other cluster uses this cluster's id"

function showingPatch(deps: StepDeps, service: Service, address: string): object {
  const outdated = outdatedRequestAnnotations(service, deps.requestAnnotations, address)
  return {
    metadata: {
      annotations: {
        ...cancelWithdrawal(deps, service),
        ...withoutAnnotations(outdated),
        [addressAnnotation]: address,
      },
    },
    spec: { loadBalancerIP: address },
  }
}

function hidingPatch(deps: StepDeps, service: Service, address: string | undefined): object {
  const { metadata, spec } = service
  const shown = metadata.annotations?.[addressAnnotation] ?? address
  return {
    metadata: {
      annotations: {
        ...cancelWithdrawal(deps, service),
        ...withoutAnnotations([addressAnnotation, ...annotationsRequesting(service, deps.requestAnnotations, shown)]),
      },
    },
    ...(spec.loadBalancerIP === shown ? { spec: { loadBalancerIP: null } } : {}),
  }
}

/** Keeps the reservation of an address that is announced until its Service is deleted, and reports how to end that. */
async function postponeRelease(
  { announcer, event, ledger }: StepDeps,
  { record, service }: { record: ElasticIP; service: Service | undefined },
  signal: AbortSignal,
): Promise<undefined> {
  if (!service) return
  const until = `until Service ${keyOf(service)} is deleted`
  await ledger.postponeRelease({ record, reason: `${announcer.name} announces it ${until}` }, signal)
  const message =
    `${announcer.name} announces ${record.status?.address} ${until}, so its reservation stays. ` +
    'To release the address, delete the Service; to use it again, make the Service a LoadBalancer again'
  event(service, { type: 'Warning', reason: 'DeletingLoadBalancer', message })
}

/** Warns about a Service that regained an address that the software had not withdrawn. */
function warnOfReturn({ announcer, event }: StepDeps, service: Service | undefined): void {
  const { name, withdrawsOnlyOnDeletion: rule } = announcer
  if (!service || !rule) return
  const message = `The Service has its address again, but ${name} may announce nothing for it: ${rule.afterReturn}`
  event(service, failedEvent(message))
}
