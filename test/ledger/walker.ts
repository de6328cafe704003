// A cluster in which anything may happen next: every call of every process waits at a gate until a test opens it.
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { CloudError } from '../../clouds/ports/cloud.ts'
import { KubeError } from '../../kube/errors.ts'
import { AddressInUse } from '../../ledger/record/address-use.ts'
import type { ElasticIPStatus } from '../../ledger/record/elastic-ip.ts'
import { random as randomOf } from '../chaos/random.ts'
import type { HeardCall, Hooks } from '../fakes/interposed.ts'
import {
  makeHarness,
  scheme,
  type Account,
  type HarnessMarks,
  type Process,
  type ProcessOptions,
  type Harness,
} from './harness.ts'

/** A call that has not arrived, or an answer that has not come back. */
type Gate = {
  of: Actor | undefined
  what: string
  moment: 'before' | 'after'
  /** The longest time until a call arrives; its caller waits as long for the answer. */
  maxMs: number
  atMs: number
  /** A slow gate opens when its time is over, or seldom by chance. */
  isSlow: boolean
  open(): void
  cut(): void
}

type GateFacts = Pick<Gate, 'moment' | 'maxMs'> & { error: () => Error }

export type Actor = Process & { name: string; isFrozen: boolean }

export type Walker = {
  harness: Harness
  random: (below: number) => number
  log: string[]
  actors: Actor[]
  gates: Gate[]
  /** Errors that no path should cause. */
  surprises: unknown[]
  /** Runs until every process waits at a gate. */
  settle: () => Promise<void>
  pass: (ms: number) => Promise<void>
  openOne: (gate: Gate, cut: boolean) => Promise<void>
  start: (name: string, account?: Account) => Actor
  crash: (actor: Actor) => Promise<void>
  /** Starts work of a process; it may fail with an error of the API server or the cloud. */
  go: (actor: Actor, what: string, work: () => Promise<unknown>) => void
  /** Waits until the test opens the gate. */
  gate: (of: Actor | undefined, what: string, facts: GateFacts) => Promise<void>
  note: (text: string) => void
}

const kubeMs = 10_000
const cloudMs = 20_000
const budgetMs = 30_000
/** A list is at most this late. */
const listMs = 20_000

export function makeWalker(
  seed: number,
  { policy, ...facts }: Pick<ProcessOptions, 'warmPool'> & Pick<HarnessMarks, 'policy'> = {},
): Walker {
  const harness = makeHarness({ scheme, sweepsUntagged: false, ...(policy && { policy }) })
  const chance = randomOf(seed)
  const random = (below: number) => chance.whole(below)
  const log: string[] = []
  const gates: Gate[] = []
  const actors: Actor[] = []
  const surprises: unknown[] = []
  const startMs = harness.now().getTime()
  const nowMs = () => harness.now().getTime() - startMs
  const note = (text: string) => void log.push(`${(nowMs() / 1000).toFixed(0)} s  ${text}`)

  function gate(of: Actor | undefined, what: string, facts: GateFacts) {
    const { error, ...rest } = facts
    return new Promise<void>((resolve, reject) => {
      const leave = () => gates.splice(gates.indexOf(own), 1)
      const own: Gate = {
        of,
        what,
        ...rest,
        atMs: nowMs(),
        isSlow: random(8) === 0,
        open: () => (leave(), resolve()),
        cut: () => (leave(), reject(error())),
      }
      gates.push(own)
    })
  }

  function hooks(actor: () => Actor, kind: 'kube' | 'sky'): Hooks {
    const maxMs = kind === 'kube' ? kubeMs : cloudMs
    const at = (moment: 'before' | 'after') => (call: HeardCall) => {
      const what = `${actor().name} ${nameOf(call)}`
      return gate(actor(), what, { moment, maxMs, error: () => lost(kind, call.verb) })
    }
    return { before: at('before'), after: at('after') }
  }

  function start(name: string, account?: Account): Actor {
    const ends: { atMs: number; controller: AbortController }[] = []
    const timeLimit = () => {
      const end = { atMs: nowMs() + budgetMs, controller: new AbortController() }
      ends.push(end)
      return { signal: end.controller.signal, isOver: () => nowMs() >= end.atMs }
    }
    const self = () => actor
    const hooked = { kube: hooks(self, 'kube'), cloud: hooks(self, 'sky') }
    const process = harness.alone(name, { ...facts, ...hooked, timeLimit, account })
    const actor: Actor = { ...process, name, isFrozen: false }
    actors.push(actor)
    return actor
  }

  async function settle(): Promise<void> {
    for (let idle = 0; idle < 3; idle += 1) {
      await turn()
      mock.timers.tick(20_000)
    }
  }

  async function openOne(chosen: Gate, cut: boolean): Promise<void> {
    note(`${cut ? 'cut ' : ''}${chosen.moment} ${chosen.what}`)
    if (cut) chosen.cut()
    else chosen.open()
    await settle()
  }

  /** A call that is on its way arrives in its time or never does; a process that runs does not wait for longer. */
  async function pass(ms: number): Promise<void> {
    const overdue = () => gates.filter(({ atMs, maxMs }) => nowMs() + ms - atMs >= maxMs)
    for (let rounds = 0; rounds < 200; rounds += 1) {
      const late = overdue().find(({ moment, of }) => moment === 'before' || !of?.isFrozen)
      if (!late) break
      await openOne(late, late.moment === 'after' || random(2) === 0)
    }
    if (Math.floor(nowMs() / listMs) !== Math.floor((nowMs() + ms) / listMs)) harness.cloud.catchUp()
    harness.advance(ms)
    note(`${ms / 1000} s pass`)
    await settle()
  }

  function go(actor: Actor, what: string, work: () => Promise<unknown>): void {
    note(`${actor.name} begins ${what}`)
    work().catch((error: unknown) => {
      if (isExpected(error)) return note(`${actor.name}: ${error.message}`)
      if (
        error instanceof Error &&
        /^(no (IPv4 |IPv6 )?address|not available|spec[.]ipFamilyPolicy): /.test(error.message)
      )
        return undefined
      return surprises.push(error)
    })
  }

  async function crash(actor: Actor): Promise<void> {
    note(`${actor.name} crashes`)
    // Its calls may still arrive; it hears of nothing any more.
    for (const own of gates.filter(({ of }) => of === actor)) {
      if (own.moment === 'before' && random(2) === 0) own.open()
      await settle()
    }
    for (const own of gates.filter(({ of }) => of === actor)) gates.splice(gates.indexOf(own), 1)
    actors.splice(actors.indexOf(actor), 1)
  }

  return { harness, random, log, actors, gates, surprises, settle, pass, openOne, start, crash, go, gate, note }
}

/** Refusals, lost answers, and what a cloud granted twice; a sweep throws those of single objects together. */
function isExpected(error: unknown): error is Error {
  if (error instanceof AggregateError) return error.errors.every(isExpected)
  return [KubeError, CloudError, AddressInUse].some((kind) => error instanceof kind)
}

/** The error of a call that is never answered. */
export function lost(kind: 'kube' | 'sky', verb: string): Error {
  if (kind === 'kube') return new KubeError(`${verb}: no answer`, { status: 0, reason: 'Timeout' })
  const outcome = verb === 'reserve' || verb === 'release' ? 'unknown' : 'nothing'
  return new CloudError(`${verb}: no answer`, { fault: 'unavailable', outcome })
}

function nameOf({ verb, values: [first, second] }: HeardCall): string {
  if (typeof first === 'string') return `cloud ${verb} ${first}`
  const { kind } = first as { kind?: string }
  if (kind === undefined) return `cloud ${verb}`
  const { name, metadata, status } = second as { name?: string; metadata?: { name: string }; status?: ElasticIPStatus }
  const { phase = '', reservationID = '' } = verb === 'replace' ? (status ?? {}) : {}
  return `${verb} ${kind} ${name ?? metadata?.name} ${phase} ${reservationID}`.trimEnd()
}
