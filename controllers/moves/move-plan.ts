// Decides on which machine an address belongs: the control-plane address on control-plane nodes, a Service's on any.
// The first row that applies decides. The terms of the table:
// - Good: a candidate with enough consecutive good answers. While the holder fails, every two failures beyond "too often"
//   reduce that number by one, down to two.
// - Too often: the setting's number of consecutive failures. It applies to a holder that had enough consecutive good
//   answers before it failed. A holder that answered only at times before needs twice as many.
// - Another bad server: machines deliver the address to every published API server, so its probes may have hit that one.
//   This is no longer a reason once the address has failed very often in a row.
// - Reason to leave: a number, the strongest reason is the highest; the words say what it means.
//
//   the address is assigned to  | and                                                    | decision
//   ----------------------------+--------------------------------------------------------+------------------------------
//   no machine                  | a node answers (the previous holder first)             | move: unassigned
//   no machine                  | only nodes answer that the cloud refused lately        | move there: unassigned
//   no machine                  | no node answers                                        | wait, report
//   several machines            | one of them answers, or another node is good           | move: several
//   several machines            |                                                        | wait, report
//   a machine without such node | a node is good, and it has been so for some time       | move: stranger
//   a machine without such node |                                                        | wait
//   such a node                 | it failed too often, and a candidate is good           | move: failed
//   such a node                 | it failed too often, only refused candidates are good  | move there: failed
//   such a node                 | it failed too often, and no candidate is good          | wait, report
//   such a node                 | it failed, but not yet too often                       | wait
//   such a node                 | the address answered, then failed, not yet too often   | wait
//   such a node                 | the address failed, perhaps for another bad server     | move: leaving, or wait, report
//   such a node                 | the address failed too often, and a candidate is good  | move: unreachable
//   such a node                 | it has more reason to leave than a good candidate      | move: leaving
//   such a node                 | no node may get the address, nor keep it                | stay, report
//   such a node                 |                                                        | stay
//
// Each move waits for the pause after earlier moves and tries. There is no automatic failback: a good holder stays.
// While the address works, a machine that the provider refused lately is no candidate. Otherwise it is the last one,
// because the refusal may have been momentary. A machine on which two consecutive moves failed comes after all others:
// the provider may not say that the machine is the reason.
import { excludeLabel } from '../../kube/objects.ts'
import type { ProbeHistory } from './probe-history.ts'

/** A node to which the address may route. */
export type MovableNode = {
  name: string
  /** The id of its machine; undefined before the node has one of our provider. */
  machine: string | undefined
  /** Why it should not keep the address, as an index into `leaving` of the words; 0 if it may. */
  leaving: number
  /** Whether machines may deliver the address to it although another one has it, as kube-proxy does. */
  isPublished?: boolean
  /** The results of its probes. */
  probes: ProbeHistory
}

/** The words of messages about the nodes. */
export type MoveWords = {
  /** The term for these nodes. */
  node: string
  /** Says that a node failed. */
  failed: (node: MovableNode) => string
  /** The reasons why a node should not keep the address, the weakest first. */
  leaving: readonly string[]
  /** The reason for which a node never gets the address. A holder keeps it until another node can take it. */
  excluded?: number
}

export type MoveReason = 'unassigned' | 'several' | 'stranger' | 'failed' | 'unreachable' | 'leaving'

export type Decision =
  | { do: 'stay'; problem?: string }
  /** `problem` is what an operator should know; without it, the next probes decide. */
  | { do: 'wait'; problem?: string }
  | { do: 'move'; to: Candidate; reason: MoveReason; why: string }

export type MoveFacts = {
  /** The nodes; the first of equal ones is preferred. */
  nodes: readonly MovableNode[]
  /** The machines to which the provider has assigned the address. */
  assigned: readonly string[]
  /** The last holder. */
  former: string | undefined
  /** How long the address has been assigned to a machine that is none of the nodes'. */
  strangerForMs: number
  /** Probes of the address itself since the current holder has it; undefined if they would prove nothing. */
  address: ProbeHistory | undefined
  rules: MoveRules
  words: MoveWords
  /** The node of the guardian that decides. If it got the address, another guardian would have to lead. */
  own?: string | undefined
  /** The machines that the provider refused lately. */
  refused: ReadonlyMap<string, Refusal>
  /** Why a move for this reason must wait; undefined if it need not. */
  pause: (reason: MoveReason) => Pause | undefined
}

/** The provider's answer when it refused a machine, and how long until we try that machine again. */
export type Refusal = {
  error: string
  /** Whether the provider said that the machine cannot have the address. If not, several moves to it failed. */
  isCertain: boolean
  againInMs: number
}

/** A wait, and why, worded as the end of a sentence. */
export type Pause = { ms: number; why: string }

export type MoveRules = {
  /** How many consecutive failures make a holder bad. */
  failures: number
  /** How many consecutive good answers make a candidate good. */
  successes: number
}

/** A node registers some time after its machine starts. A cluster that is being set up must not lose its first address. */
export const strangerGraceMs = 10_000

const leastSuccesses = 2

/** A stopped API server stays published for up to 15 s more, and kube-proxy follows. Probes fail at most twice a second. */
const failuresOfGone = 60

/**
 * Each probe of the address is a new connection, which kube-proxy sends to a random published server. While the holder
 * and a candidate are good, a bad server does not get this many in a row.
 */
const excusedFailures = 30

type Candidate = MovableNode & { machine: string }

/** Decides about an address that belongs on one machine. Pure. */
export function planMove(facts: MoveFacts): Decision {
  const { nodes, assigned } = facts
  if (assigned.length === 0) return planUnassigned(facts)
  if (assigned.length > 1) return planSeveral(facts)
  const holder = nodes.find(({ machine }) => machine === assigned[0])
  return holder === undefined ? planStranger(facts) : planHolder(holder, facts)
}

function planUnassigned(facts: MoveFacts): Decision {
  const to = candidates(facts, 1)[0] ?? lastResort(facts, 1)
  if (!to) return { do: 'wait', problem: `it is assigned to no machine, and ${nobody(facts, 'no')}` }
  return paused({ do: 'move', to, reason: 'unassigned', why: 'it was assigned to no machine' }, facts)
}

function planSeveral(facts: MoveFacts): Decision {
  const holding = candidates(facts, 1).find(({ machine }) => facts.assigned.includes(machine))
  const to = holding ?? candidates(facts, facts.rules.successes)[0]
  const why = `it was assigned to ${facts.assigned.length} machines: ${facts.assigned.join(', ')}`
  if (!to) return { do: 'wait', problem: `${why}; ${nobody(facts, 'no')}` }
  return paused({ do: 'move', to, reason: 'several', why }, facts)
}

function planStranger(facts: MoveFacts): Decision {
  const { assigned, rules, strangerForMs, words } = facts
  const problem = `it is assigned to machine ${assigned[0]}, which is not a ${words.node} of this cluster`
  if (strangerForMs < strangerGraceMs) return { do: 'wait' }
  const to = candidates(facts, rules.successes)[0]
  if (!to) return { do: 'wait', problem: `${problem}; ${nobody(facts, 'no')}` }
  const why = `machine ${assigned[0]} is not a ${words.node}`
  return paused({ do: 'move', to, reason: 'stranger', why }, facts)
}

function planHolder(holder: MovableNode, facts: MoveFacts): Decision {
  const { rules, words } = facts
  const { failures } = holder.probes
  const tolerated = toleratedFailures(holder.probes, rules)
  if (failures >= tolerated) {
    const why = words.failed(holder)
    const needed = Math.max(leastSuccesses, rules.successes - Math.floor((failures - tolerated) / 2))
    const to = others(holder, facts, needed)[0] ?? lastResort(without(holder, facts), needed)
    if (!to) return { do: 'wait', problem: `${why}; ${nobody(without(holder, facts), 'no other')}` }
    return paused({ do: 'move', to, reason: 'failed', why }, facts)
  }
  if (failures > 0) return { do: 'wait' }
  return planReachable(holder, facts) ?? planLeaving(holder, facts) ?? planStay(holder, facts)
}

function planReachable(holder: MovableNode, facts: MoveFacts): Decision | undefined {
  const { address, rules } = facts
  if (address === undefined || address.answeredAtMs === undefined || address.failures === 0) return undefined
  if (address.failures < toleratedFailures(address, rules)) return { do: 'wait' }
  const why = `${address.failures} probes of the address itself failed, the last one: ${address.reason ?? 'no answer'}`
  const suspects = without(holder, facts).nodes.filter((node) => mayFailAddress(node, rules))
  if (suspects.length > 0 && address.failures < excusedFailures) {
    const names = suspects.map(({ name }) => name).join(', ')
    return (
      planLeaving(holder, facts) ?? { do: 'wait', problem: `${why}; perhaps they reached ${names}, which is unhealthy` }
    )
  }
  const to = others(holder, facts, rules.successes)[0]
  if (!to) return { do: 'wait', problem: `${why}; ${nobody(without(holder, facts), 'no other')}` }
  return paused({ do: 'move', to, reason: 'unreachable', why }, facts)
}

/** Whether this server may be why probes of the address failed, so that they say nothing about the holder. */
function mayFailAddress({ isPublished, probes }: MovableNode, { successes }: MoveRules): boolean {
  if (isPublished) return probes.successes < successes
  return isPublished === false && probes.failures > 0 && probes.failures < failuresOfGone
}

function planLeaving(holder: MovableNode, facts: MoveFacts): Decision | undefined {
  const to = others(holder, facts, facts.rules.successes).find(({ leaving }) => leaving < holder.leaving)
  if (!to) return undefined
  const why = `node ${holder.name} is ${facts.words.leaving[holder.leaving]}`
  return paused({ do: 'move', to, reason: 'leaving', why }, facts)
}

function planStay(holder: MovableNode, facts: MoveFacts): Decision {
  if (!isExcluded(holder, facts)) return { do: 'stay' }
  return { do: 'stay', problem: `node ${holder.name} is excluded; ${nobody(without(holder, facts), 'no other')}` }
}

function isExcluded({ leaving }: MovableNode, { words }: MoveFacts): boolean {
  return leaving === words.excluded
}

/** How many consecutive failures are too many. */
export function toleratedFailures({ formerSuccesses }: ProbeHistory, { failures, successes }: MoveRules): number {
  return formerSuccesses >= successes ? failures : 2 * failures
}

function without(holder: MovableNode, facts: MoveFacts): MoveFacts {
  return { ...facts, nodes: facts.nodes.filter(({ machine }) => machine !== holder.machine) }
}

function others(holder: MovableNode, facts: MoveFacts, successes: number): Candidate[] {
  return candidates(without(holder, facts), successes)
}

/**
 * The nodes that the address may move to. The weakest reason to leave comes first, and a machine on which moves failed
 * comes after its equals. Of the rest, the previous holder is first, and our own node last.
 */
function candidates(facts: MoveFacts, successes: number): Candidate[] {
  const { refused, own, former } = facts
  const rank = ({ machine, leaving, name }: Candidate) => {
    const { againInMs = -1 } = refused.get(machine) ?? {}
    return [leaving, againInMs, Number(machine !== former), Number(name === own)]
  }
  return answering(facts, successes)
    .filter(({ machine }) => refused.get(machine)?.isCertain !== true)
    .toSorted((one, other) => compareRanks(rank(one), rank(other)))
}

function answering(facts: MoveFacts, successes: number): Candidate[] {
  return facts.nodes
    .filter((node): node is Candidate => node.machine !== undefined && !isExcluded(node, facts))
    .filter(({ probes }) => probes.successes >= successes)
}

/** The refused machine that may be tried again first. */
function lastResort(facts: MoveFacts, successes: number): Candidate | undefined {
  const waitMs = ({ machine }: Candidate) => facts.refused.get(machine)?.againInMs ?? 0
  return answering(facts, successes).toSorted((one, other) => waitMs(one) - waitMs(other))[0]
}

/** Why no node can take the address. */
function nobody(facts: MoveFacts, no: 'no' | 'no other'): string {
  const answer = facts.nodes.filter(({ probes }) => probes.successes > 0)
  const refusals = answer.flatMap(({ name, machine = '' }) => {
    const refusal = facts.refused.get(machine)
    return refusal ? [refusalText(name, refusal)] : []
  })
  const excluded = answer.filter((node) => isExcluded(node, facts)).length
  const unknown = answer.filter(({ machine }) => machine === undefined).map(({ name }) => name)
  const reasons = [
    ...refusals,
    ...(excluded > 0 ? [excludedText(excluded)] : []),
    ...(unknown.length > 0 ? [withoutMachine(unknown)] : []),
  ]
  return [`${no} ${facts.words.node} ${reasons.length > 0 ? 'can take it' : 'is healthy'}`, ...reasons].join('; ')
}

function refusalText(name: string, { error, isCertain }: Refusal): string {
  return `${isCertain ? `the provider refused ${name}` : `the last moves to ${name} failed`}: ${error}`
}

function excludedText(count: number): string {
  return `${count} healthy ${count === 1 ? 'node has' : 'nodes have'} the label ${excludeLabel}: remove it from those that may have the address`
}

function withoutMachine(names: string[]): string {
  return (
    `${names.join(', ')} answers, but its spec.providerID does not name a machine of this provider. The controllers of eip-admission ` +
    'set it on nodes whose kubelet has --cloud-provider=external; else set --provider-id of the kubelet'
  )
}

function paused(move: Extract<Decision, { do: 'move' }>, { pause, refused }: MoveFacts): Decision {
  const refusal = refused.get(move.to.machine)
  const waits: Pause[] = [
    pause(move.reason) ?? [],
    refusal ? { ms: refusal.againInMs, why: refusalText(move.to.name, refusal) } : [],
  ].flat()
  const [longest] = waits.filter(({ ms }) => ms > 0).toSorted((one, other) => other.ms - one.ms)
  if (!longest) return move
  const seconds = Math.ceil(longest.ms / 1000)
  return { do: 'wait', problem: `${move.why}; ${longest.why}; the next move waits (initially ${seconds} s)` }
}

/** Compares ranks at the first position where they differ; the lower one comes first. */
export function compareRanks(one: readonly number[], other: readonly number[]): number {
  return one.map((value, at) => value - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}
