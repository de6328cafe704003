import type { Announcements, Problem } from '../../announcers/announcer.ts'
import { KubeError, isConflict } from '../../kube/errors.ts'
import type { Key } from '../../kube/objects.ts'
import { errorText } from '../loop/reconcile-key.ts'
import type { Outcome, Reconciler } from '../loop/reconciler.ts'
import type { Watch } from '../loop/watch.ts'
import { type ConfigureResult, type Configurator, problemsOfServices } from './configurator.ts'
import type { LingeringNodes } from './lingering-nodes.ts'

/** The only key of an announcer, so that a burst of changes becomes one reconcile of everything. */
export const announcingKey = 'all'

/** How long the announcing software gets to process a write before we read its reports. */
const verdictMs = 2_000

/** How long a problem that may pass on its own stays unreported. */
const passingMs = 30_000

/** How soon after a refusal we write again. */
const refusedMs = 10_000

/** How often a lasting problem is reported: Events expire after an hour, and the alert counts those of half an hour. */
const reportAgainMs = 600_000

/** Why the network may still learn an address: Services show it, or, if there are none, it is not withdrawn yet. */
export type Announcement = {
  services: Key[]
  /** How long this cannot change. */
  waitMs?: number
  /** The reason of a long wait, for the owner of its Service. */
  reason?: string
}

export type Announcing = Reconciler & {
  /**
   * Finds out why the network may still learn an address from us. Undefined only if neither our caches, nor objects
   * that we wrote, nor writes in progress have it.
   */
  findAnnouncement(address: string, signal: AbortSignal): Promise<Announcement | undefined>
  /** The lasting problem of a Service's announcement, if it has one. */
  problemOf(service: Key): string | undefined
  /** Forgets what may have changed while another process led. */
  begin: () => void
  /** Triggers passes that are due without a change in the cluster. */
  watch?: Watch
}

export type AnnouncingDeps = {
  /** The addresses and nodes to announce now, from our caches. */
  state: () => Announcements
  /** The Services in our caches that show an address; `state` would scan all Services for this. */
  showing: (address: string) => Key[]
  configurator: Configurator
  lingering?: LingeringNodes | undefined
  /** Receives a problem once, again every ten minutes while it lasts, and again if it ended in between. */
  report: (problem: Problem) => void
  /** A clock that never jumps. */
  now?: () => number
}

/** Keeps the configuration of the announcing software at what the cluster should announce. */
export function announcing(deps: AnnouncingDeps): Announcing {
  const { state, showing, configurator, lingering, now = () => performance.now() } = deps
  const { report, problemOf } = reporter({ report: deps.report, now })
  const { lasting, hasPassing, forget } = passingProblems(now)
  let current: Announcements | undefined
  const carryOut = async (wanted: Announcements, signal: AbortSignal) => {
    current = wanted
    try {
      return { wanted, ...(await configurator.carryOut(wanted, signal)) }
    } catch (error) {
      if (!signal.aborted && isAboutSoftware(error)) report(lasting(failureProblems(wanted, error)))
      throw error
    } finally {
      current = undefined
    }
  }
  return {
    name: 'announcing',
    begin() {
      forget()
      configurator.begin?.()
      lingering?.forget()
    },
    async reconcile(_key, signal) {
      const { wanted, problems, failure, ...result } = await carryOut(state(), signal)
      report(lasting([...problems, ...failureProblems(wanted, failure)]))
      if (failure) throw failure
      return outcomeOf(result, hasPassing())
    },
    problemOf,
    async findAnnouncement(address, signal) {
      const services = showing(address)
      const isBeingWritten = current?.addresses.some((announced) => announced.address === address) ?? false
      const isShown = services.length > 0 || isBeingWritten
      if (!isShown && !(await configurator.announces(address, signal))) return lingering?.find(address)
      lingering?.announced(address)
      return { services }
    },
  }
}

/** Separates lasting problems from those that may pass on their own and are still too young. */
function passingProblems(now: () => number) {
  let passing = new Map<string, number>()
  return {
    lasting: (problems: Problem[]) => {
      const seen = problems.filter(({ mayPass }) => mayPass).map(identityOf)
      passing = new Map(seen.map((identity) => [identity, passing.get(identity) ?? now()]))
      return problems.filter((problem) => now() - (passing.get(identityOf(problem)) ?? -Infinity) >= passingMs)
    },
    hasPassing: () => passing.size > 0,
    forget: () => passing.clear(),
  }
}

/** Whether an error means more than a write conflict or a failing API server. */
function isAboutSoftware(error: unknown): boolean {
  // Objects are written in parallel, so several may fail.
  if (error instanceof AggregateError) return error.errors.some(isAboutSoftware)
  if (isConflict(error)) return false
  // If a webhook fails, the API server answers with 500.
  return !(error instanceof KubeError) || (![0, 401, 429].includes(error.status) && error.status <= 500)
}

/** Turns an error into problems: every Service with an address may be affected. */
function failureProblems(state: Announcements, error: unknown): Problem[] {
  if (error === undefined || !isAboutSoftware(error)) return []
  const message = `the announcements could not be updated: ${errorText(error)}`
  return problemsOfServices(state, message).map((problem) => ({ ...problem, mayPass: true }))
}

/** Reports new problems, repeats lasting ones, and remembers the current ones. */
function reporter({ report, now }: Required<Pick<AnnouncingDeps, 'report' | 'now'>>) {
  let reportedAtMs = new Map<string, number>()
  let ofServices = new Map<Key, string>()
  const reportDue = (problems: Problem[]): void => {
    ofServices = new Map(
      problems.flatMap(({ subject, message }) => ('service' in subject ? [[subject.service, message]] : [])),
    )
    const before = reportedAtMs
    reportedAtMs = new Map()
    for (const problem of problems) {
      const lastMs = before.get(identityOf(problem)) ?? -Infinity
      const isDue = now() - lastMs >= reportAgainMs
      if (isDue) report(problem)
      reportedAtMs.set(identityOf(problem), isDue ? now() : lastMs)
    }
  }
  return { report: reportDue, problemOf: (service: Key) => ofServices.get(service) }
}

type Changes = Pick<ConfigureResult, 'isChanged' | 'isUnfinished' | 'isRefused'>

function outcomeOf({ isChanged, isUnfinished, isRefused }: Changes, hasPassing: boolean): Outcome {
  if (isChanged || isUnfinished) return { againInMs: verdictMs }
  return isRefused || hasPassing ? { againInMs: refusedMs } : {}
}

/** The same text for repeated reports of a problem: the API server lists several reasons in any order. */
function identityOf({ subject, message }: Problem): string {
  return JSON.stringify([subject, message.split(/\W+/).toSorted()])
}
