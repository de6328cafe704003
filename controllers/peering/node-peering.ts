import type { Peering } from '../../clouds/peering.ts'
import { backoffMs, withJitter } from '../../lib/backoff.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Key, Node } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { type LabelRequirement, matchesRequirements } from '../../lib/label-selector.ts'
import type { MachineList } from '../nodes/machine-list.ts'
import { type ProviderIds, readProviderId } from '../nodes/provider-id.ts'
import type { Reconciler } from '../reconciler.ts'
import type { RecentRead } from '../../lib/recent-read.ts'
import type { AnnotationScheme } from './node-annotations.ts'
import { type PeeringStep, peeringPlan } from './node-peering-plan.ts'
import type { PeerFacts } from './peer-facts.ts'

export type NodePeeringDeps = {
  client: Pick<KubeClient, 'apply' | 'patch'>
  cached: { node: (name: Key) => Node | undefined }
  ids: ProviderIds
  selector: readonly LabelRequirement[]
  scheme: AnnotationScheme
  /** That BGP is on for the project. */
  project: RecentRead<void>
  /** The machines that it is on for. */
  enabled: RecentRead<Set<string>>
  peering: Pick<Peering, 'enableOn' | 'peers'>
  machines: Pick<MachineList, 'within'>
  facts: Pick<PeerFacts, 'get' | 'set' | 'remove'>
  /** The cloud is asked about a settled node again after that long at most. */
  refreshMs: number
  now: () => number
  log: Log
}

type Step<Do> = Extract<PeeringStep, { do: Do }>

/** When the cloud is to be asked about a node again, and how often in a row it knew no peers. */
type Round = { dueMs: number; undecided: number }

const fieldManager = 'eip-admission-peering'

/** Whoever asks about a new node has to know of sessions that were made a minute ago. */
const freshMs = 10_000
const undecidedPace = { firstMs: 2_000, maxMs: 60_000 }
/** More than any node needs: beyond it another writer undoes ours. */
const maxSteps = 6

/** Has each selected node speak BGP with the routers of its cloud, and says on the node with which. */
export function nodePeering(deps: NodePeeringDeps): Reconciler {
  const { cached, facts, ids, now, selector } = deps
  const plan = peeringPlan(deps.scheme)
  const rounds = new Map<Key, Round>()
  const seen = (name: Key, node: Node | undefined) => {
    const fact = facts.get(name)
    const dueInMs = fact ? (rounds.get(name)?.dueMs ?? 0) - now() : 0
    const said = readProviderId(node?.spec.providerID, ids)
    return {
      node,
      said,
      isSelected: matchesRequirements(node?.metadata.labels, selector),
      fact,
      dueInMs,
      isDue: dueInMs <= 0,
    }
  }
  const forget = (name: Key) => {
    facts.remove(name)
    rounds.delete(name)
  }
  return {
    name: 'node-peering',
    async reconcile(name, signal) {
      let node = cached.node(name)
      for (let steps = 0; steps < maxSteps; steps += 1) {
        const { dueInMs, ...facing } = seen(name, node)
        const step = plan(facing)
        if (!step) return facing.isDue ? {} : { againInMs: dueInMs }
        if (step.do === 'annotate') node = await annotate(deps, step, signal)
        else if (step.do === 'ask') rounds.set(name, await ask(deps, { ...step, last: rounds.get(name) }, signal))
        else if (step.do === 'rename') facts.set({ ...step.fact, hostname: step.hostname })
        else forget(name)
      }
      return { againInMs: 60_000 }
    },
  }
}

/** What the cloud says is told as it comes: who waits for the peers does not wait for the network. */
async function ask(
  deps: NodePeeringDeps,
  { node, hostname, machine, last }: Step<'ask'> & { last: Round | undefined },
  signal: AbortSignal,
): Promise<Round> {
  const { facts, machines, now, peering, refreshMs } = deps
  const known = facts.get(node)
  const spoke = known !== undefined && known.peers.length > 0
  await deps.project.within(refreshMs, signal)
  await turnOn(deps, { node, machine, withinMs: spoke ? refreshMs : freshMs }, signal)
  let peers = await peering.peers(machine, signal)
  if (spoke && peers.length === 0) {
    // Somebody may have switched it off since all machines were listed: on again, it keeps its peers.
    await deps.project.within(freshMs, signal)
    await turnOn(deps, { node, machine, withinMs: 0 }, signal)
    peers = await peering.peers(machine, signal)
  }
  // What the node says counts until the machine is read: it may be that only our memory of it was lost.
  facts.set({ node, hostname, machine, peers, privateNetwork: known?.privateNetwork ?? networkSaid(deps, node) })
  const find = async (ms: number) => (await machines.within(ms, signal)).find(({ id }) => id === machine)
  const found = (await find(refreshMs)) ?? (await find(freshMs))
  if (found) facts.set({ node, hostname, machine, peers, privateNetwork: found.privateNetwork })
  const misses = peers.length > 0 ? 0 : (last?.undecided ?? 0) + 1
  const waitMs = misses === 0 ? withJitter(refreshMs) : backoffMs(misses, undecidedPace)
  return { undecided: misses, dueMs: now() + waitMs }
}

function networkSaid({ cached, scheme }: NodePeeringDeps, node: Key): string | undefined {
  const name = scheme.names.privateNetwork
  return name === undefined ? undefined : cached.node(node)?.metadata.annotations?.[name]
}

/** Makes sure that BGP is on for a machine, as far as a list of this age tells. */
async function turnOn(
  { enabled: answer, log, peering }: NodePeeringDeps,
  { node, machine, withinMs }: { node: string; machine: string; withinMs: number },
  signal: AbortSignal,
): Promise<void> {
  const enabled = await answer.within(withinMs, signal)
  if (enabled.has(machine)) return
  await peering.enableOn(machine, signal)
  enabled.add(machine)
  log.info({ node, machine }, 'BGP enabled on the machine')
}

/** Our annotations are the ones that we applied; what is left of others' goes by name. */
async function annotate(
  { client, log }: NodePeeringDeps,
  { node, wanted, stale }: Step<'annotate'>,
  signal: AbortSignal,
): Promise<Node> {
  const { name, uid = '' } = node.metadata
  // Without its uid, a node that was deleted just now would be made anew.
  const applied = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, annotations: wanted } }
  const written = await client.apply<Node>(nodes, applied, { fieldManager, signal })
  const left = stale.filter((one) => written.metadata.annotations?.[one] !== undefined)
  log.info({ node: name, annotations: Object.keys(wanted).length, removed: stale.length }, 'node annotated')
  if (left.length === 0) return written
  const merge = { metadata: { annotations: Object.fromEntries(left.map((one) => [one, null])) } }
  return client.patch(nodes, { name, patch: { merge } }, { signal })
}
