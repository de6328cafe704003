import { type AddressFacts, addressesSection, longPending, longUnannounced } from './sections/addresses.ts'
import { type CloudFacts, cloudSection, isFailing } from './sections/cloud.ts'
import { controlPlaneSection } from './sections/control-plane.ts'
import type { ControlPlaneFacts } from '../controllers/control-plane/control-plane-guardian.ts'
import { type ControllerFacts, controllersSection, eventsSection } from './sections/controllers.ts'
import { isReady } from '../controllers/nodes/taints.ts'
import { type NodeFacts, nodesSection } from './sections/nodes.ts'
import { type ProcessFacts, processSection } from './sections/process.ts'
import type { RecentEvent } from '../telemetry/event-recorders.ts'
import { type Block, type Cell, type Section, type Tile, type Tone, cut } from './section.ts'

/** Everything that the page shows, as this process knows it. Parts that do not run here are absent. */
export type PageFacts = {
  process: ProcessFacts
  cloud: CloudFacts
  events: readonly RecentEvent[]
  addresses?: AddressFacts | undefined
  nodes?: NodeFacts | undefined
  controllers?: ControllerFacts | undefined
  controlPlane?: ControlPlaneFacts | undefined
  /** The replica that runs the controllers; absent without an election. */
  leader?: { isHere: boolean; identity: string | undefined } | undefined
  /** The problems that health checks find, with the names of the checks. */
  problems: readonly { name: string; reason: string; tone: Tone }[]
}

/** The sections of the page, the most important first. Pure. */
export function makeModel(facts: PageFacts, nowMs: number): Section[] {
  const { addresses, nodes, controllers, controlPlane } = facts
  return [
    summarySection(facts, nowMs),
    ...(addresses ? [addressesSection(addresses, nowMs)] : []),
    ...(nodes ? [nodesSection(nodes)] : []),
    ...(controlPlane ? [controlPlaneSection(controlPlane)] : []),
    cloudSection(facts.cloud, nowMs),
    ...(controllers ? [controllersSection(controllers)] : []),
    eventsSection(facts.events),
    processSection(facts.process, nowMs),
  ]
}

/** How many of the oldest waits the summary names. */
const maxNamed = 3

function summarySection(facts: PageFacts, nowMs: number): Section {
  const notes = attention(facts, nowMs)
  const well: Block = { kind: 'notes', notes: [{ tone: 'good', text: 'No problem, as far as this replica knows.' }] }
  return {
    id: 'summary',
    title: 'Summary',
    blocks: [
      notes.length > 0 ? { kind: 'notes', notes } : well,
      { kind: 'tiles', tiles: [...addressTiles(facts, nowMs), ...nodeTiles(facts), ...leaderTiles(facts)] },
    ],
  }
}

type Note = { tone: Tone; text: string }

function attention({ problems, addresses, nodes, cloud }: PageFacts, nowMs: number): Note[] {
  const late = longPending(addresses?.records ?? [], nowMs)
  const notReady = (nodes?.nodes ?? []).filter((node) => !isReady(node))
  return [
    ...problems.map(({ name, reason, tone }) => ({ tone, text: `${name}: ${cut(reason, 500)}` })),
    ...late.slice(0, maxNamed).map(({ metadata, status }) => ({
      tone: 'bad' as const,
      text: `ElasticIP ${metadata.name} waits for its address${status?.message ? `: ${cut(status.message, 300)}` : ''}`,
    })),
    ...(late.length > maxNamed ? [{ tone: 'bad' as const, text: `${late.length - maxNamed} more wait too` }] : []),
    ...unannouncedNotes(addresses, nowMs),
    ...cloud.calls
      .filter((call) => isFailing(call, nowMs))
      .map(({ call, fault = '' }) => ({
        tone: 'warn' as const,
        text: `the last ${call} at the provider failed: ${fault}`,
      })),
    ...(notReady.length > 0
      ? [
          {
            tone: 'warn' as const,
            text: notReady.length === 1 ? '1 node is not ready' : `${notReady.length} nodes are not ready`,
          },
        ]
      : []),
  ]
}

function unannouncedNotes(addresses: AddressFacts | undefined, nowMs: number): Note[] {
  const { length } = addresses ? longUnannounced(addresses, nowMs) : []
  if (length === 0) return []
  const text = length === 1 ? '1 Service does not show its address' : `${length} Services do not show their addresses`
  return [{ tone: 'bad', text: `${text}: no announcing software has taken ${length === 1 ? 'it' : 'them'}` }]
}

function addressTiles({ addresses }: PageFacts, nowMs: number): Tile[] {
  if (!addresses) return []
  const { records } = addresses
  const late = longPending(records, nowMs).length
  const waiting = records.filter(({ status }) => (status?.phase ?? 'Requested') === 'Requested').length
  const tone: Tone = late > 0 ? 'bad' : waiting > 0 ? 'busy' : 'good'
  return [
    { label: 'ElasticIPs', value: { text: String(records.length) } },
    { label: 'wait for one', value: { text: String(waiting), tone } },
  ]
}

function nodeTiles({ nodes }: PageFacts): Tile[] {
  if (!nodes || nodes.nodes.length === 0) return []
  const ready = nodes.nodes.filter(isReady).length
  const all = nodes.nodes.length
  return [{ label: 'nodes ready', value: { text: `${ready} of ${all}`, tone: ready === all ? 'good' : 'warn' } }]
}

function leaderTiles({ leader }: PageFacts): Tile[] {
  if (!leader) return []
  const { isHere, identity } = leader
  const unknown: Cell = { text: 'not known yet', tone: 'warn' }
  const other: Cell = identity ? { text: 'another replica', detail: identity } : unknown
  return [{ label: 'leader', value: isHere ? { text: 'this replica', tone: 'good' } : other }]
}
