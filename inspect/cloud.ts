import { setTimeout as sleep } from 'node:timers/promises'
import { softwareOf } from '../announcers/announcers.ts'
import { CloudError } from '../clouds/ports/cloud.ts'
import type { AssignedAddress } from '../clouds/ports/assignments.ts'
import type { Machine } from '../clouds/ports/machines.ts'
import type { Peer, SeenSessions } from '../clouds/ports/peering.ts'
import { mapAll } from '../lib/map-all.ts'
import { type Fact, readFact } from './fact.ts'
import type { CloudRead, Context, Facts, Values } from './facts.ts'
import type { CloudReader } from './reader.ts'

export type CloudFactName =
  | 'cloudReads'
  | 'cloudPace'
  | 'reservations'
  | 'locations'
  | 'machines'
  | 'peers'
  | 'seenSessions'
  | 'assigned'
  | 'controlPlane'

type CloudFacts = Pick<Facts, CloudFactName>

/** As many as `serve` has in flight. */
const concurrency = 5

/** Reads everything that the checks need from the provider. `pace` counts the calls. */
export async function cloudFacts(
  reader: CloudReader,
  { context, pace }: { context: Context; pace: Values['cloudPace'] },
): Promise<CloudFacts> {
  const { signal } = new AbortController()
  const { vendor } = context
  const [reservations, machines, locations] = await Promise.all([
    readCloud(() => reader.cloud.reservations({}, signal)),
    readCloud(() => reader.machines.machines(signal)),
    readCloud(() => reader.cloud.locations(signal)),
  ])
  const { project, seenSessions, peers } = await bgpFacts(reader, { usesBgp: vendor.bgp.isOn, machines }, signal)
  const assigned = await readCloud(() => assignedAddresses(reader, vendor, signal))
  const controlPlane = await readCloud(() => controlPlaneAddresses(reader, vendor.controlPlane?.tag, signal))
  const cloudReads = Object.entries({
    'the reservations of the project': reservations,
    'the machines of the project': machines,
    'the locations': locations,
    'BGP of the project': project,
    'the machines of the addresses': assigned,
    'the control-plane address': controlPlane,
  }).map(([what, fact]) => toRead(what, fact))
  return {
    reservations,
    locations,
    machines,
    peers,
    seenSessions,
    assigned,
    controlPlane,
    cloudReads: { value: cloudReads },
    cloudPace: { value: pace },
  }
}

/** How often to try a read that the rate limit refuses, and the longest wait before a retry. */
const patience = { tries: 3, mostMs: 2_000 }

/** Reads a fact from the provider. If another program has used up the rate limit, waits and tries again. */
function readCloud<T>(read: () => Promise<T>): Promise<Fact<T>> {
  return readFact(async () => {
    for (let left = patience.tries - 1; left > 0; left -= 1) {
      try {
        return await read()
      } catch (error) {
        if (!(error instanceof CloudError) || error.fault !== 'rate-limit') throw error
        await sleep(Math.min(error.retryAfterMs ?? patience.mostMs, patience.mostMs))
      }
    }
    return read()
  })
}

async function bgpFacts(
  reader: CloudReader,
  { usesBgp, machines }: { usesBgp: boolean; machines: Fact<Machine[]> },
  signal: AbortSignal,
) {
  const peering = usesBgp ? reader.peering : undefined
  const project = await readCloud(async () => peering?.project(signal))
  const seenSessions = await readCloud(async () => (await peering?.sessions(signal)) ?? new Map<string, SeenSessions>())
  const peers = await readCloud(async () =>
    peering ? peersOf(reader, { machines, seenSessions }, signal) : new Map<string, Peer[]>(),
  )
  return { project, seenSessions, peers }
}

async function assignedAddresses(
  { assignments }: CloudReader,
  { loadBalancer }: Context['vendor'],
  signal: AbortSignal,
): Promise<AssignedAddress[]> {
  const isAssigned = softwareOf(loadBalancer)?.needs === 'assignment'
  return isAssigned ? ((await assignments?.assignedAddresses(undefined, signal)) ?? []) : []
}

async function controlPlaneAddresses(
  { assignments }: CloudReader,
  tag: string | undefined,
  signal: AbortSignal,
): Promise<AssignedAddress[]> {
  return tag === undefined ? [] : ((await assignments?.assignedAddresses(tag, signal)) ?? [])
}

/** The peers of each machine of the project for which BGP is on; none for the others. */
async function peersOf(
  reader: CloudReader,
  { machines, seenSessions }: { machines: Fact<Machine[]>; seenSessions: Fact<Map<string, SeenSessions>> },
  signal: AbortSignal,
): Promise<Map<string, Peer[]>> {
  if ('unread' in machines) throw new Error(machines.unread)
  if ('unread' in seenSessions) throw new Error(seenSessions.unread)
  const counts = await mapAll(
    machines.value,
    async ({ id }): Promise<[string, Peer[]]> => [
      id,
      seenSessions.value.has(id) ? ((await reader.peering?.peers(id, signal)) ?? []) : [],
    ],
    concurrency,
  )
  return new Map(counts)
}

function toRead(what: string, fact: Fact<unknown>): CloudRead {
  return 'unread' in fact ? { what, problem: fact.unread, fault: fact.fault } : { what }
}
