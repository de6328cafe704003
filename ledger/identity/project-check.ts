import type { CloudProject } from '../../clouds/ports/cloud-provider.ts'
import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import { repeat, repeatLater } from '../../lib/repeat.ts'
import type { Log } from '../../kube/log.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import type { LedgerMap } from './ledger-map.ts'
import {
  type OtherProject,
  type ProjectPlan,
  type ProjectSeen,
  matchOf,
  otherProject,
  planProject,
  reasonOf,
  rememberedProject,
  confirmProjectCommand,
  hasOneOfOurs,
  isProjectConfirmed,
  projectText,
} from './project-plan.ts'
import type { Context } from '../context.ts'

type ProjectEvent = { type: 'Normal' | 'Warning'; reason: 'OtherProject' | 'ProjectConfirmed'; message: string }

export type ProjectCheckOptions = {
  map: LedgerMap
  at: ProjectSeen['at']
  project: CloudProject
  cluster: string
  /** The reservations in the records, read past every cache. */
  held: (signal: AbortSignal) => Promise<string[]>
  /** Every reservation of the configured project. */
  list: (signal: AbortSignal) => Promise<Reservation[]>
  log: Log
  event: (map: ConfigMap, event: ProjectEvent) => void
  clock?: Clock
}

export type ProjectCheck = {
  /** Compares the configured project with the one that the ledger remembers, and stores it if the ledger remembers none. */
  check(signal: AbortSignal): Promise<void>
  /** Why this process may not work in its project, by its last look; undefined if it may. */
  problem(): string | undefined
  /** The same by the current ConfigMap of the ledger: every claim asks this. */
  haltReason(map: ConfigMap | undefined): string | undefined
  /** Works while the project is the ledger's, until the signal aborts. */
  run(work: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<void>
}

/** How often a process checks whether a person has confirmed its project, or another one. */
const haltedMs = 2_000
const oursMs = 15_000

/** Keeps a process from working in a project that is not the ledger's: another account has none of our addresses. */
export function projectCheck(options: ProjectCheckOptions): ProjectCheck {
  const { at, project, log, clock = systemClock } = options
  const { check, problem } = comparison(options)
  const isOurs = () => problem() === undefined
  const look = async (signal: AbortSignal) => {
    try {
      await check(signal)
    } catch (error) {
      // The known project is kept: the next read may succeed, and a conflict says that another replica was faster.
      if (!signal.aborted) log.debug({ error: String(error) }, 'the project of the ledger was not read')
    }
  }
  return {
    check,
    problem,
    haltReason(now) {
      const remembered = rememberedProject(now)
      const match = matchOf(project, remembered)
      // Without an entry, the process relies on its own observation: the ConfigMap may have been deleted.
      if (remembered === undefined || match === 'open') return problem()
      return match === 'same' ? undefined : reasonOf(otherProject({ project, at, remembered }))
    },
    async run(work, signal) {
      const turn = async () => {
        if (!isOurs()) await look(signal)
        if (!isOurs()) return undefined
        const hasEnded = await workWhileOurs(work, (until) => watchWhileOurs({ clock, look, isOurs }, until), signal)
        return hasEnded ? 'over' : undefined
      }
      await repeat(turn, { everyMs: haltedMs, signal, clock })
    },
  }
}

/** Compares the project of the settings with the ledger's, and keeps the last result. */
function comparison(options: ProjectCheckOptions): Pick<ProjectCheck, 'check' | 'problem'> {
  const { map, at, project, cluster } = options
  const tell = reporter(options)
  const { isOfToken: _, ...sure } = project
  let plan: ProjectPlan | undefined
  return {
    problem: () =>
      plan === undefined ? `whether ${project.id} is the project of the ledger was not read yet` : reasonOf(plan),
    async check(signal) {
      const stored = await map.read(signal)
      // This process keeps its token, so a proof that it gave once needs no further list.
      const isShown = plan?.kind === 'ours' || plan?.kind === 'remember'
      const named = isShown ? sure : project
      const facts = await factsOf({ ...options, project: named }, stored, signal)
      const next = planProject({ project: named, at, map: stored, cluster, ...facts })
      if (next.kind === 'remember') {
        // The id of an existing ledger changes with its heartbeats, and only there.
        const entries = { ...(!stored && { cluster }), project: project.id }
        const changed = await map.change(stored, entries, signal)
        tell.remembered(changed, rememberedProject(stored))
      } else if (next.kind === 'other') {
        // Without the object, a person could not confirm anything on it.
        tell.other(stored ?? (await map.change(stored, { cluster }, signal)), next)
      }
      plan = next
    },
  }
}

/** Works until `watch` returns or the signal aborts; returns whether the work finished first. */
async function workWhileOurs(
  work: (signal: AbortSignal) => Promise<unknown>,
  watch: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const turn = new AbortController()
  const until = AbortSignal.any([signal, turn.signal])
  const watching = watch(until).then(() => turn.abort())
  try {
    await work(until)
    return !until.aborted
  } finally {
    turn.abort()
    await watching
  }
}

/** Returns when the project is no longer the ledger's, or at the abort. */
async function watchWhileOurs(
  { clock, look, isOurs }: { clock: Clock; look: (signal: AbortSignal) => Promise<void>; isOurs: () => boolean },
  signal: AbortSignal,
): Promise<void> {
  const lookAgain = async () => {
    await look(signal)
    return isOurs() ? undefined : 'over'
  }
  await repeatLater(lookAgain, { everyMs: oursMs, signal, clock })
}

/** The facts that the plan needs beside the ConfigMap. If the map has the project, it suffices. */
async function factsOf(
  { held: readHeld, list, project }: ProjectCheckOptions,
  stored: ConfigMap | undefined,
  signal: AbortSignal,
): Promise<Pick<ProjectSeen, 'held' | 'listed'>> {
  if (matchOf(project, rememberedProject(stored)) !== 'open') return { held: [], listed: undefined }
  const held = await readHeld(signal)
  try {
    return { held, listed: await list(signal) }
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    return { held, listed: undefined }
  }
}

/** Logs what is new, and reports what lasts in an Event. */
function reporter({ log, event, project }: ProjectCheckOptions) {
  let reported: string | undefined
  return {
    other(map: ConfigMap, plan: OtherProject): void {
      const reason = `${plan.what}; ${plan.remedy}`
      if (reported !== reason) log.error({ project: project.id }, reason)
      reported = reason
      event(map, { type: 'Warning', reason: 'OtherProject', message: reason })
    },
    remembered(map: ConfigMap, former: string | undefined): void {
      reported = undefined
      log.info({ project: project.id, former }, 'the ledger remembers its project')
      if (former === undefined || former === project.id) return
      const message = `The ledger now belongs to project ${project.id}; it previously belonged to ${former}`
      event(map, { type: 'Normal', reason: 'ProjectConfirmed', message })
    },
  }
}

/** A person's statement about a list that has none of the ledger's reservations. */
export type LossConfirmation = {
  /** Whether a person has confirmed that they no longer exist. */
  isGiven: (signal: AbortSignal) => Promise<boolean>
  /** Ends the confirmation, because the list is complete again. */
  end: (signal: AbortSignal) => Promise<void>
  /** Reports that nothing is written off, and what a person can do. */
  warn: (signal: AbortSignal) => Promise<void>
}

/**
 * With `confirm-project=<the project>` a person confirms that the reservations missing from the project's list no
 * longer exist.
 */
export function lossConfirmation(
  { vendor, events, log }: Pick<Context, 'vendor' | 'events' | 'log'>,
  { map, at }: Pick<ProjectCheckOptions, 'map' | 'at'>,
): LossConfirmation {
  const { project } = vendor
  const { id } = project
  const recorder = events.of('service-controller')
  return {
    isGiven: async (signal) => isProjectConfirmed(await map.read(signal), id),
    async end(signal) {
      const stored = await map.recent(signal)
      if (isProjectConfirmed(stored, id)) await map.change(stored, { project: id }, signal)
    },
    async warn(signal) {
      const message =
        `${projectText(project)} lists none of the reservations of this cluster: nothing is written off. ` +
        `If they really no longer exist, run: ${confirmProjectCommand({ at, project: id })}`
      log.error({ project: id }, message)
      const stored = await map.recent(signal)
      if (stored) recorder.record(stored, { type: 'Warning', reason: 'OtherProject', message })
    },
  }
}

/**
 * Whether reservations missing from a list were probably deleted: people delete one by hand, but not all of several.
 * Pure.
 */
export function isLossLikely(of: { listed: Reservation[]; held: string[]; cluster: string; missing: number }): boolean {
  return of.missing < 2 || hasOneOfOurs(of.listed, of)
}
