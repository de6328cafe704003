import type { Machine } from '../../../clouds/machines.ts'
import type { Peer } from '../../../clouds/peering.ts'
import { mapAll } from '../../../lib/map-all.ts'
import { type Fact, readFact } from '../fact.ts'
import type { CloudRead, Context, Facts, Values } from '../facts.ts'
import type { CloudReader } from '../reader.ts'

type CloudFacts = Pick<Facts, 'cloudReads' | 'cloudPace' | 'reservations' | 'machines' | 'peers' | 'controlPlane'>

/** As many as `serve` has in flight. */
const concurrency = 5

/** Reads everything that the checks need of the cloud. `pace` counts the calls. */
export async function cloudFacts(
  reader: CloudReader,
  { context, pace }: { context: Context; pace: Values['cloudPace'] },
): Promise<CloudFacts> {
  const { signal } = new AbortController()
  const { vendor } = context
  const [reservations, machines, locations] = await Promise.all([
    readFact(() => reader.cloud.reservations({}, signal)),
    readFact(() => reader.machines.machines(signal)),
    readFact(() => reader.cloud.locations(signal)),
  ])
  const usesBgp = vendor.bgp.isOn && reader.peering !== undefined
  const project = await readFact(async () => (usesBgp ? reader.peering?.project(signal) : undefined))
  const peers = await readFact(async () => (usesBgp ? peersOf(reader, machines, signal) : new Map<string, Peer[]>()))
  const controlPlane = await readFact(async () => {
    const { tag } = vendor.controlPlane ?? {}
    return tag === undefined ? [] : ((await reader.assignments?.assignedAddresses(tag, signal)) ?? [])
  })
  const cloudReads = [
    toRead('the reservations of the project', reservations),
    toRead('the machines of the project', machines),
    toRead('the locations', locations),
    toRead('BGP of the project', project),
    toRead('the control-plane address', controlPlane),
  ]
  return {
    reservations,
    machines,
    peers,
    controlPlane,
    cloudReads: { value: cloudReads },
    cloudPace: { value: pace },
  }
}

/** The peers of each machine of the project for which BGP is on; none for the others. */
async function peersOf(
  reader: CloudReader,
  machines: Fact<Machine[]>,
  signal: AbortSignal,
): Promise<Map<string, Peer[]>> {
  if ('unread' in machines) throw new Error(machines.unread)
  const on = await reader.peering?.machines(signal)
  const counts = await mapAll(
    machines.value,
    async ({ id }): Promise<[string, Peer[]]> => [
      id,
      on?.has(id) ? ((await reader.peering?.peers(id, signal)) ?? []) : [],
    ],
    concurrency,
  )
  return new Map(counts)
}

function toRead(what: string, fact: Fact<unknown>): CloudRead {
  return 'unread' in fact ? { what, problem: fact.unread, fault: fact.fault } : { what }
}
