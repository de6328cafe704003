import type { Peering, AnnotationScheme } from '../../clouds/ports/peering.ts'
import { backoffMs, withJitter } from '../../lib/repeat.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Log } from '../../kube/log.ts'
import type { Key, Node } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { type LabelRequirement, matchesRequirements } from '../../lib/label-selector.ts'
import type { RecentRead } from '../../lib/recent-read.ts'
import type { MachineList } from '../dependencies.ts'
import { readProviderId } from '../nodes/provider-id.ts'
import { type Reconciler, keepKeys, runSteps } from '../loop/reconciler.ts'
import { type PeeringSeen, type PeeringStep, peeringPlan } from './node-peering-plan.ts'
import type { PeerFacts } from '../facts/peer-facts.ts'
import type { ProviderIds } from '../../clouds/ports/machines.ts'

export type NodePeeringDeps = {
  client: Pick<KubeClient, 'apply' | 'patch'>
  cached: { node: (name: Key) => Node | undefined }
  ids: ProviderIds
  selector: readonly LabelRequirement[]
  scheme: AnnotationScheme
  /** Ensures that BGP is enabled on the project. */
  project: RecentRead<void>
  /** The machines on which BGP is enabled. */
  enabled: RecentRead<Set<string>>
  peering: Pick<Peering, 'enableOn' | 'peers'>
  machines: Pick<MachineList, 'within'>
  facts: Pick<PeerFacts, 'get' | 'set' | 'remove'>
  /** The maximum interval at which we ask the provider about a settled node. */
  refreshMs: number
  now: () => number
  log: Log
}

type Step<Do> = Extract<PeeringStep, { do: Do }>

/** When to ask the provider about a node again, and how many consecutive answers had no peers. */
type Schedule = { dueMs: number; emptyAnswers: number }

/** The field manager of our annotations on nodes. */
export const peeringFieldManager = 'eip-admission-peering'

/** The maximum age of an answer for a new node: BGP may have been enabled only a minute ago. */
const freshMs = 10_000
const emptyAnswerPace = { firstMs: 2_000, maxMs: 60_000 }
/** More steps than any node needs. */
const maxSteps = 6

/** Enables BGP on the machine of each selected node, and writes its peers on the node. */
export function nodePeering(deps: NodePeeringDeps): Reconciler {
  const { cached, facts, ids, now, selector } = deps
  const plan = peeringPlan(deps.scheme)
  const schedules = new Map<Key, Schedule>()
  const look = (name: Key, node: Node | undefined): PeeringSeen & { dueInMs: number } => {
    const fact = facts.get(name)
    const dueInMs = fact ? (schedules.get(name)?.dueMs ?? 0) - now() : 0
    return {
      node,
      providerId: readProviderId(node?.spec.providerID, ids),
      isSelected: matchesRequirements(node?.metadata.labels, selector),
      fact,
      dueInMs,
      isDue: dueInMs <= 0,
    }
  }
  const forget = (name: Key) => {
    facts.remove(name)
    schedules.delete(name)
  }
  return {
    name: 'node-peering',
    keepOnly: (existing) => keepKeys(schedules, existing),
    async reconcile(name, signal) {
      let node = cached.node(name)
      const carryOut = async (step: PeeringStep) => {
        if (step.do === 'annotate') node = await annotate(deps, step, signal)
        else if (step.do === 'ask') schedules.set(name, await ask(deps, { ...step, last: schedules.get(name) }, signal))
        else if (step.do === 'rename') facts.set({ ...step.fact, hostname: step.hostname })
        else forget(name)
        return undefined
      }
      const planOf = ({ dueInMs, ...seen }: ReturnType<typeof look>) => {
        const step = plan(seen)
        return step || seen.isDue ? { step } : { againInMs: dueInMs }
      }
      return runSteps({ look: () => look(name, node), plan: planOf, carryOut, maxSteps }, signal)
    },
  }
}

/** Reads the peers of a machine, then its private network. Each fact is set at once, so that neither waits for the other. */
async function ask(
  deps: NodePeeringDeps,
  { node, hostname, machine, last }: Step<'ask'> & { last: Schedule | undefined },
  signal: AbortSignal,
): Promise<Schedule> {
  const { facts, machines, now, peering, refreshMs } = deps
  const known = facts.get(node)
  const hadPeers = known !== undefined && known.peers.length > 0
  await deps.project.within(refreshMs, signal)
  await enableBgp(deps, { node, machine, withinMs: hadPeers ? refreshMs : freshMs }, signal)
  let peers = await peering.peers(machine, signal)
  if (hadPeers && peers.length === 0) {
    // Another program may have disabled BGP since the machines were listed. Once enabled again, the machine keeps its peers.
    await deps.project.within(freshMs, signal)
    await enableBgp(deps, { node, machine, withinMs: 0 }, signal)
    peers = await peering.peers(machine, signal)
  }
  // Until the machine is read, the node's annotation applies: perhaps only our own fact was lost.
  facts.set({ node, hostname, machine, peers, privateNetwork: known?.privateNetwork ?? annotatedNetwork(deps, node) })
  const find = async (ms: number) => (await machines.within(ms, signal)).find(({ id }) => id === machine)
  const found = (await find(refreshMs)) ?? (await find(freshMs))
  if (found) facts.set({ node, hostname, machine, peers, privateNetwork: found.privateNetwork })
  const emptyAnswers = peers.length > 0 ? 0 : (last?.emptyAnswers ?? 0) + 1
  const waitMs = emptyAnswers === 0 ? withJitter(refreshMs) : backoffMs(emptyAnswers, emptyAnswerPace)
  return { emptyAnswers, dueMs: now() + waitMs }
}

function annotatedNetwork({ cached, scheme }: NodePeeringDeps, node: Key): string | undefined {
  const name = scheme.names.privateNetwork
  return name === undefined ? undefined : cached.node(node)?.metadata.annotations?.[name]
}

/** Enables BGP on a machine, unless a list of this age shows that it is enabled. */
async function enableBgp(
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

/** An apply removes the annotations that we applied before; a predecessor's stale ones are removed by name. */
async function annotate(
  { client, log }: NodePeeringDeps,
  { node, wanted, stale }: Step<'annotate'>,
  signal: AbortSignal,
): Promise<Node> {
  const { name, uid = '' } = node.metadata
  // Without the uid, the apply would recreate a node that was just deleted.
  const applied = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, annotations: wanted } }
  const written = await client.apply<Node>(nodes, applied, { fieldManager: peeringFieldManager, signal })
  const left = stale.filter((one) => written.metadata.annotations?.[one] !== undefined)
  log.info({ node: name, annotations: Object.keys(wanted).length, removed: stale.length }, 'node annotated')
  if (left.length === 0) return written
  const merge = { metadata: { uid, annotations: Object.fromEntries(left.map((one) => [one, null])) } }
  return client.patch(nodes, { name, patch: { merge } }, { signal })
}
