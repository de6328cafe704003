import { showsAddress, unannounced } from '../../ledger/record/address-use.ts'
import type { Service } from '../../kube/objects.ts'
import { type ElasticIP, type Phase, claimKey, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { countedAddresses } from '../../ledger/claim/limits.ts'
import { type Block, type Cell, type Section, type Tile, type Tone, clear, cut, firstRows } from '../section.ts'

export type AddressFacts = {
  records: readonly ElasticIP[]
  /** The Service of a key in the cache. */
  service: (key: string) => Pick<Service, 'status'> | undefined
  limits: { cluster: number | undefined; namespace: number | undefined }
}

/** A record that waits longer than this for its address needs a person. */
const longPendingMs = 5 * 60_000

const tones: Record<Phase, Tone> = {
  Requested: 'busy',
  Reserved: 'busy',
  Bound: 'good',
  Releasing: 'busy',
  Released: 'quiet',
  Available: 'quiet',
}

/** Numeric order, so that web-2 comes before web-10. */
const byName = new Intl.Collator('en', { numeric: true })

/** Which Service holds which address, with changes in progress first. */
export function addressesSection(facts: AddressFacts, nowMs: number): Section {
  const { records } = facts
  const { shown, rest } = firstRows(records.toSorted(byUrgency), 'kubectl get elasticips')
  const table: Block = {
    kind: 'table',
    columns: clear('address', 'Service', 'phase', 'location', 'age'),
    rows: shown.map((record) => rowOf(record, facts, nowMs)),
    empty: 'No ElasticIP yet. The first Service of type LoadBalancer creates one.',
    rest,
  }
  return {
    id: 'addresses',
    title: 'Addresses',
    blocks: [{ kind: 'tiles', tiles: [...limitTiles(facts), ...phaseTiles(records)] }, table],
  }
}

/** Records that have waited too long, the oldest first. */
export function longPending(records: readonly ElasticIP[], nowMs: number): ElasticIP[] {
  return records.filter((record) => isLongPending(record, nowMs)).toSorted((a, b) => createdMs(a) - createdMs(b))
}

/** Records whose Service has not shown the address for too long. */
export function longUnannounced({ records, service }: AddressFacts, nowMs: number): ElasticIP[] {
  return unannounced(records, service).filter((record) => nowMs - createdMs(record) > longPendingMs)
}

function isLongPending(record: ElasticIP, nowMs: number): boolean {
  return phaseOf(record) === 'Requested' && nowMs - createdMs(record) > longPendingMs
}

function createdMs({ metadata }: ElasticIP): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}

/** Orders waiting addresses first, then those that are released, then the others; each by name. */
function byUrgency(one: ElasticIP, other: ElasticIP): number {
  const order: Phase[] = ['Requested', 'Releasing', 'Reserved']
  const place = (record: ElasticIP) => (order.indexOf(phaseOf(record)) + order.length + 1) % (order.length + 1)
  return place(one) - place(other) || byName.compare(one.metadata.name, other.metadata.name)
}

function rowOf(record: ElasticIP, { service }: AddressFacts, nowMs: number): Cell[] {
  const { spec, status } = record
  const key = claimKey(record)
  const phase = phaseOf(record)
  const isShown = key !== undefined && showsAddress(service(key), status?.address)
  const isHeld = phase === 'Bound' && status?.address !== undefined
  const tone = isLongPending(record, nowMs) ? 'bad' : tones[phase]
  const problem = phase === 'Bound' ? undefined : status?.message
  return [
    status?.address === undefined ? { text: 'none yet', tone: 'quiet' } : { text: status.address, code: true },
    key === undefined ? { text: 'no Service', tone: 'quiet', detail: record.metadata.name } : { text: key },
    {
      text: phase,
      tone,
      detail: problem ? cut(problem, 300) : isHeld && !isShown ? 'the Service does not show it yet' : undefined,
    },
    { text: spec.location ?? '' },
    { atMs: createdMs(record) },
  ]
}

/** The number of records in each phase. */
function phaseTiles(records: readonly ElasticIP[]): Tile[] {
  const byPhase = Map.groupBy(records, phaseOf)
  return (Object.keys(tones) as Phase[]).flatMap((phase) => {
    const found = byPhase.get(phase)
    return found ? [{ label: phase, value: { text: String(found.length), tone: tones[phase] } }] : []
  })
}

/** The use of the limits by the cluster, and by the namespace with the most addresses. */
function limitTiles({ records, limits }: AddressFacts): Tile[] {
  const counted = countedAddresses(records)
  const ofNamespace = Map.groupBy(counted, ({ spec }) => spec.claimRef?.namespace ?? '')
  ofNamespace.delete('')
  const [name, most] = [...ofNamespace].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? []
  return [
    { label: 'in the cluster', value: usage(counted.length, limits.cluster) },
    ...(name === undefined
      ? []
      : [{ label: `in namespace ${name}, which has most`, value: usage(most?.length ?? 0, limits.namespace) }]),
  ]
}

function usage(used: number, limit: number | undefined): Cell {
  if (limit === undefined) return { text: String(used), detail: 'no limit' }
  const tone = used >= limit ? 'bad' : used >= 0.9 * limit ? 'warn' : 'quiet'
  return {
    text: `${used} of ${limit}`,
    ...(tone !== 'quiet' && { tone }),
    detail: tone === 'bad' ? 'limit reached' : undefined,
  }
}
