import type { AnnouncementRequest, Announcer } from '../../announcers/announcer.ts'
import type { Service } from '../../kube/objects.ts'
import { type ClaimSpec, claimSpecOf } from '../../ledger/claim/claim-spec.ts'
import { type ElasticIP, type ReclaimPolicy, heldAddress, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { addressAnnotation, reclaimAnnotation, serviceFinalizer, upstreamFinalizer } from '../../ledger/record/names.ts'
import { type RequestAnnotations, outdatedRequestAnnotations } from '../../ledger/want/own-address.ts'
import { type Want, isWanted } from '../../ledger/want/want.ts'
import { isWithdrawing } from './withdrawal.ts'

/** One change to the world. Each is safe to repeat, and none needs another to have worked. */
export type Step =
  | { do: 'add-finalizer' }
  | ({ do: 'claim' } & ClaimSpec)
  | { do: 'show-address'; address: string }
  | { do: 'hide-address' }
  | { do: 'bind'; record: ElasticIP; uid: string }
  | { do: 'set-reclaim-policy'; record: ElasticIP; reclaim: ReclaimPolicy }
  | { do: 'announce'; address: string; request: AnnouncementRequest }
  | { do: 'withdraw' }
  | { do: 'release'; record: ElasticIP }
  | { do: 'retain'; record: ElasticIP }
  | { do: 'remove-finalizers' }
  | { do: 'report-problems'; problems: string[] }

export type Plan = {
  /** What to do next; undefined when the world is as it should be. */
  step?: Step
  /** When to look again although nothing may have changed. */
  againInMs?: number
}

export type Seen = {
  service: Service | undefined
  wanted: Want | undefined
  record: ElasticIP | undefined
  announcer: Pick<Announcer, 'request' | 'withdrawal' | 'withdrawsOnlyOnDeletion'>
  requestAnnotations: RequestAnnotations
  /** How long ago the record was last written. */
  recordAgeMs: number
  /** How long a reserved address waits for its Service: it may be rejected after we admitted it, or be on its way. */
  graceMs: number
}

const settled: Plan = {}
const noWant: Want = { kind: 'nothing', reason: '' }

/** The next step from what is seen to what is wanted, for one Service and its record. Pure. */
export function planService(seen: Seen): Plan {
  const { service, wanted, record } = seen
  if (record && phaseOf(record) === 'Releasing') return { step: { do: 'release', record } }
  if (!service || !wanted) return record ? planWithoutService(seen, record) : settled
  if (service.metadata.deletionTimestamp) return planRemoval(seen, service, record)
  switch (wanted.kind) {
    case 'ignored':
      return settled
    case 'nothing':
      return planNoAddress(seen, service, record)
    case 'wrong':
      // A Service that has its address keeps it, whatever somebody wrote on it or into the settings since.
      return record && heldAddress(record) !== undefined
        ? showHeld(seen, service, record)
        : { step: { do: 'report-problems', problems: wanted.problems } }
    case 'own':
      return showOwn(seen, service, wanted.address)
    case 'reserve':
    case 'named':
      return showReserved(seen, service, wanted)
  }
}

/** The Service is not there: not yet, or no more. */
function planWithoutService({ recordAgeMs, graceMs }: Seen, record: ElasticIP): Plan {
  // A person deleted the record: with no Service there to hold it, that is the word that counts.
  if (record.metadata.deletionTimestamp) return { step: { do: 'release', record } }
  switch (phaseOf(record)) {
    case 'Bound':
      return { step: releaseOrRetain(record) }
    case 'Requested':
    case 'Reserved':
      if (recordAgeMs < graceMs) return { againInMs: graceMs - recordAgeMs }
      return { step: wasHeld(record) ? releaseOrRetain(record) : { do: 'release', record } }
    case 'Releasing':
      return { step: { do: 'release', record } }
    case 'Released':
    case 'Available':
      return settled
  }
}

function releaseOrRetain(record: ElasticIP, reclaim: ReclaimPolicy = record.spec.reclaimPolicy): Step {
  return reclaim === 'Retain' && record.status?.address ? { do: 'retain', record } : { do: 'release', record }
}

/** Whether a Service had the address before: a claim that comes to nothing does not take it from the next one. */
function wasHeld({ status }: ElasticIP): boolean {
  return status?.conditions?.some(({ type }) => type === 'Assigned') ?? false
}

/** What the Service itself says; where it says nothing the record counts, which a person may have changed. */
function statedReclaimPolicy({ metadata }: Service, wanted: Want): ReclaimPolicy | undefined {
  const isSaid = metadata.annotations?.[reclaimAnnotation] !== undefined
  return isSaid && wanted.kind === 'reserve' ? wanted.reclaim : undefined
}

/** The Service, as it is stored, wants no address. */
function planNoAddress(seen: Seen, service: Service, record: ElasticIP | undefined): Plan {
  const againInMs = graceLeftMs(seen)
  if (againInMs === undefined) return planRemoval(seen, service, record)
  const { step } = planRemoval(seen, service, undefined)
  return step ? { step } : { againInMs }
}

/**
 * How long the record, where it is not bound, still waits: it may be for a change of the Service that only admission has
 * seen so far, as it may be for a Service that is not there yet.
 */
function graceLeftMs({ record, recordAgeMs, graceMs }: Seen): number | undefined {
  const isUnbound = record && (phaseOf(record) === 'Requested' || phaseOf(record) === 'Reserved')
  return isUnbound && recordAgeMs < graceMs ? graceMs - recordAgeMs : undefined
}

/** First nobody announces the address, then it goes back, and the Service may go last. */
function planRemoval({ wanted = noWant, announcer }: Seen, service: Service, record: ElasticIP | undefined): Plan {
  const isOurs = holdsForUs(service, wanted)
  // Its record, which is bound, goes on without it.
  if (isOurs && service.metadata.deletionTimestamp && announcer.withdrawsOnlyOnDeletion) {
    return { step: { do: 'remove-finalizers' } }
  }
  if (isOurs && isAnnounced(service, record, announcer)) return { step: { do: 'withdraw' } }
  if (record && phaseOf(record) !== 'Released')
    return { step: releaseOrRetain(record, statedReclaimPolicy(service, wanted)) }
  const shows = service.metadata.annotations?.[addressAnnotation] !== undefined || isWithdrawing(service)
  if (shows && !service.metadata.deletionTimestamp) return { step: { do: 'hide-address' } }
  return isOurs ? { step: { do: 'remove-finalizers' } } : settled
}

/** Whether the Service shows an address in its status or, to software that need not write one, ours in an annotation. */
function isAnnounced(service: Service, record: ElasticIP | undefined, { withdrawal }: Seen['announcer']): boolean {
  const { annotations = {} } = service.metadata
  if (service.status?.loadBalancer?.ingress?.length) return true
  const ours = [annotations[addressAnnotation], record?.status?.address].filter((address) => address !== undefined)
  const going = Object.entries(withdrawal?.annotations ?? {}).filter(([, value]) => value === null)
  return !isWithdrawing(service) && going.some(([name]) => ours.includes(annotations[name] ?? ''))
}

/** Whether a finalizer waits for us: ours, or one that a predecessor left on a Service that is now ours to serve. */
function holdsForUs({ metadata }: Service, wanted: Want): boolean {
  if (metadata.finalizers?.includes(serviceFinalizer)) return true
  const served = ['reserve', 'named', 'own'].includes(wanted.kind)
  return served && (metadata.finalizers?.includes(upstreamFinalizer) ?? false)
}

function showOwn(seen: Seen, service: Service, address: string): Plan {
  const { record } = seen
  if (!hasFinalizer(service)) return { step: { do: 'add-finalizer' } }
  // Not brought by a person after all: a predecessor wrote it, or our annotation was taken off.
  if (record && heldAddress(record) === address) return { step: { do: 'show-address', address } }
  const isShown = service.metadata.annotations?.[addressAnnotation] !== undefined
  if (isShown || isWithdrawing(service)) return { step: { do: 'hide-address' } }
  const announced = announce(seen, service, address)
  if (announced.step || !record || phaseOf(record) === 'Released') return announced
  const againInMs = graceLeftMs(seen)
  return againInMs === undefined ? { step: releaseOrRetain(record) } : { againInMs }
}

function showReserved(seen: Seen, service: Service, wanted: Extract<Want, { kind: 'reserve' | 'named' }>): Plan {
  const { record } = seen
  if (!hasFinalizer(service)) return { step: { do: 'add-finalizer' } }
  if (record && heldAddress(record) !== undefined && isForAnother(record, { service, wanted })) {
    const againInMs = graceLeftMs(seen)
    return againInMs === undefined ? { step: releaseOrRetain(record) } : { againInMs }
  }
  if (!record || heldAddress(record) === undefined) {
    // What it shows is no address of its own any more: nobody may announce it while another one is found.
    const announced = service.metadata.annotations?.[addressAnnotation]
    if (record && announced !== undefined && ingressOf(service) === announced) return { step: { do: 'withdraw' } }
    return { step: { do: 'claim', ...claimSpecOf(wanted) } }
  }
  const held = showHeld(seen, service, record)
  const said = statedReclaimPolicy(service, wanted) ?? record.spec.reclaimPolicy
  return held.step || record.spec.reclaimPolicy === said
    ? held
    : { step: { do: 'set-reclaim-policy', record, reclaim: said } }
}

/** An address that was claimed for the name before, from somewhere else than this Service has chosen. */
function isForAnother(record: ElasticIP, { service, wanted }: { service: Service; wanted: Want }): boolean {
  return record.spec.claimRef?.uid !== service.metadata.uid && !isWanted(record, wanted)
}

function showHeld(seen: Seen, service: Service, record: ElasticIP): Plan {
  const address = heldAddress(record) ?? ''
  const { annotations, uid = '' } = service.metadata
  if (!hasFinalizer(service)) return { step: { do: 'add-finalizer' } }
  const isShown = service.spec.loadBalancerIP === address && annotations?.[addressAnnotation] === address
  if (
    !isShown ||
    isWithdrawing(service) ||
    outdatedRequestAnnotations(service, seen.requestAnnotations, address).length > 0
  ) {
    return { step: { do: 'show-address', address } }
  }
  if (phaseOf(record) !== 'Bound' || record.spec.claimRef?.uid !== uid) return { step: { do: 'bind', record, uid } }
  return announce(seen, service, address)
}

function announce({ announcer }: Seen, service: Service, address: string): Plan {
  const asked = announcer.request(address)
  const annotated = Object.entries(asked.annotations).every(
    ([name, value]) => service.metadata.annotations?.[name] === value,
  )
  const shows = !asked.status || ingressOf(service) === ingressOf({ status: asked.status })
  return annotated && shows ? settled : { step: { do: 'announce', address, request: asked } }
}

/** The API server adds ipMode by itself: only the addresses are compared. */
function ingressOf({ status }: Pick<Service, 'status'>): string {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname).join()
}

function hasFinalizer(service: Service): boolean {
  return service.metadata.finalizers?.includes(serviceFinalizer) ?? false
}
