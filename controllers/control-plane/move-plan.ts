// Which machine the control-plane address belongs to. The first row that applies decides. "Good" is a candidate with
// enough good answers in a row; two failures of the holder beyond the necessary ones make one answer less enough, down to
// two. "Too often" is twice as often for a holder that flapped before it failed: only if it failed after enough good
// answers in a row has something happened to it. The reasons to leave are ordered: excluded by its label, cordoned, being deleted.
//
//   the address is assigned to  | and                                                    | decision
//   ----------------------------+--------------------------------------------------------+------------------------------
//   no machine                  | a node answers (the former holder first)               | move: unassigned
//   no machine                  | no node answers                                        | wait, say so
//   several machines            | one of them answers, or another node is good           | move: several
//   several machines            |                                                        | wait, say so
//   a machine without such node | a node is good, and it has been so for some time       | move: no control plane
//   a machine without such node |                                                        | wait
//   a control-plane node        | it failed too often, and a candidate is good           | move: failed
//   a control-plane node        | it failed too often, and no candidate is good          | wait, say so
//   a control-plane node        | it failed, but not yet too often                       | wait
//   a control-plane node        | the address answered, then failed too often, candidate | move: unreachable
//   a control-plane node        | it has more reason to leave than a good candidate      | move: leaving
//   a control-plane node        |                                                        | stay
//
// Each move but that of an unassigned address waits for the pause after earlier moves. Nothing moves back by itself: a
// holder that is good stays.
import { type ControlPlaneNode, leavingReasons } from './control-plane-nodes.ts'
import type { ProbeHistory } from './probe-history.ts'

/** A control-plane node and what its probes showed. */
export type GuardedNode = ControlPlaneNode & { probes: ProbeHistory }

export type MoveReason = 'unassigned' | 'several' | 'no-control-plane' | 'failed' | 'unreachable' | 'leaving'

export type Decision =
  | { do: 'stay' }
  /** `problem` is what an operator should know; without it the next probes decide. */
  | { do: 'wait'; problem?: string }
  | { do: 'move'; to: GuardedNode & { machine: string }; reason: MoveReason; why: string }

export type MoveFacts = {
  nodes: readonly GuardedNode[]
  /** The machines that the cloud has assigned the address to. */
  assigned: readonly string[]
  /** The machine that was the last holder. */
  former: string | undefined
  /** How long the address has been assigned to a machine that is no control-plane node. */
  strangerForMs: number
  /** Probes of the address itself since the holder has it; undefined if they would prove nothing. */
  address: ProbeHistory | undefined
  rules: MoveRules
  /** The node of the guardian that decides. With the address there, it would have to let another one lead. */
  own?: string | undefined
  /** Machines that the cloud refused lately. */
  refused: ReadonlySet<string>
  /** How long a move for this reason has to wait for the earlier ones. */
  pauseMs: (reason: MoveReason) => number
}

export type MoveRules = {
  /** Failures in a row that make a holder bad. */
  failures: number
  /** Good answers in a row that make a candidate good. */
  successes: number
}

/** A node registers some time after its machine began: a cluster that is being set up must not lose its first address. */
export const strangerGraceMs = 10_000

const leastSuccesses = 2

type Candidate = GuardedNode & { machine: string }

/** What to do about an address that belongs to one machine. Pure. */
export function planMove(facts: MoveFacts): Decision {
  const { nodes, assigned } = facts
  if (assigned.length === 0) return planUnassigned(facts)
  if (assigned.length > 1) return planSeveral(facts)
  const holder = nodes.find(({ machine }) => machine === assigned[0])
  return holder === undefined ? planStranger(facts) : planHolder(holder, facts)
}

function planUnassigned(facts: MoveFacts): Decision {
  const place = ({ leaving, machine }: Candidate) => leaving * 2 + Number(machine !== facts.former)
  const to = candidates(facts, 1).toSorted((one, other) => place(one) - place(other))[0]
  if (!to) return { do: 'wait', problem: 'it is assigned to no machine, and no control-plane node answers' }
  return { do: 'move', to, reason: 'unassigned', why: 'it was assigned to no machine' }
}

function planSeveral(facts: MoveFacts): Decision {
  const holding = candidates(facts, 1).find(({ machine }) => facts.assigned.includes(machine))
  const to = holding ?? candidates(facts, facts.rules.successes)[0]
  const why = `it was assigned to ${facts.assigned.length} machines: ${facts.assigned.join(', ')}`
  if (!to) return { do: 'wait', problem: `${why}; no control-plane node answers` }
  return paused({ do: 'move', to, reason: 'several', why }, facts)
}

function planStranger(facts: MoveFacts): Decision {
  const { assigned, rules, strangerForMs } = facts
  const problem = `it is assigned to machine ${assigned[0]}, which is no control-plane node of this cluster`
  if (strangerForMs < strangerGraceMs) return { do: 'wait' }
  const to = candidates(facts, rules.successes)[0]
  if (!to) return { do: 'wait', problem: `${problem}; no control-plane node answers` }
  const why = `machine ${assigned[0]} is no control-plane node`
  return paused({ do: 'move', to, reason: 'no-control-plane', why }, facts)
}

function planHolder(holder: GuardedNode, facts: MoveFacts): Decision {
  const { rules } = facts
  const { failures, reason = 'no answer' } = holder.probes
  const tolerated = toleratedFailures(holder.probes, rules)
  if (failures >= tolerated) {
    const why = `${failures} probes of the API server on ${holder.name} failed, the last one: ${reason}`
    const needed = Math.max(leastSuccesses, rules.successes - Math.floor((failures - tolerated) / 2))
    const to = others(holder, facts, needed)[0]
    if (!to) return { do: 'wait', problem: `${why}; no other control-plane node answers well` }
    return paused({ do: 'move', to, reason: 'failed', why }, facts)
  }
  if (failures > 0) return { do: 'wait' }
  return planReachable(holder, facts) ?? planLeaving(holder, facts) ?? { do: 'stay' }
}

/** An address that never answered from here says nothing about its holder: perhaps no packet returns to this machine. */
function planReachable(holder: GuardedNode, facts: MoveFacts): Decision | undefined {
  const { address, rules } = facts
  if (address === undefined || address.answeredAtMs === undefined || address.failures === 0) return undefined
  if (address.failures < toleratedFailures(address, rules)) return { do: 'wait' }
  const why = `${address.failures} probes of the address itself failed, the last one: ${address.reason ?? 'no answer'}`
  const to = others(holder, facts, rules.successes)[0]
  if (!to) return { do: 'wait', problem: `${why}; no other control-plane node answers well` }
  return paused({ do: 'move', to, reason: 'unreachable', why }, facts)
}

function planLeaving(holder: GuardedNode, facts: MoveFacts): Decision | undefined {
  const to = others(holder, facts, facts.rules.successes).find(({ leaving }) => leaving < holder.leaving)
  if (!to) return undefined
  const why = `node ${holder.name} is ${leavingReasons[holder.leaving]}`
  return paused({ do: 'move', to, reason: 'leaving', why }, facts)
}

/** How many failures in a row are too many. */
export function toleratedFailures({ formerSuccesses }: ProbeHistory, { failures, successes }: MoveRules): number {
  return formerSuccesses >= successes ? failures : 2 * failures
}

function others(holder: GuardedNode, facts: MoveFacts, successes: number): Candidate[] {
  return candidates(facts, successes).filter(({ name }) => name !== holder.name)
}

/** The nodes that the address may move to, those that stay longest first, and our own after others like it. */
function candidates({ nodes, refused, own }: MoveFacts, successes: number): Candidate[] {
  return nodes
    .filter((node): node is Candidate => node.machine !== undefined && !refused.has(node.machine))
    .filter(({ probes }) => probes.successes >= successes)
    .toSorted((one, other) => one.leaving - other.leaving || Number(one.name === own) - Number(other.name === own))
}

function paused(move: Extract<Decision, { do: 'move' }>, { pauseMs }: MoveFacts): Decision {
  const ms = pauseMs(move.reason)
  if (ms <= 0) return move
  const seconds = Math.ceil(ms / 1000)
  return { do: 'wait', problem: `${move.why}; it moved often lately, so the next move waits (at first ${seconds} s)` }
}
