import type { Announcements, Problem } from '../../announcers/announcer.ts'
import type { Key } from '../../kube/objects.ts'
import type { Configurator, Configured } from './configurator.ts'
import type { Reconciler } from '../reconciler.ts'

/** The only key of an announcer: a burst of changes is one pass over everything. */
export const announcingKey = 'all'

/** How long the software has to think about what was written, before it is looked at again. */
const verdictMs = 2_000

/** How long until what was refused is tried again. */
const refusedMs = 10_000

/** Who keeps an address in the network: Services that show it, or only what was not taken back yet. */
export type Hold = { services: Key[] }

export type Announcing = Reconciler & {
  /** Undefined when nobody can learn an address from us: by our copies, by a pass on its way, and by what is written. */
  holds(address: string, signal: AbortSignal): Promise<Hold | undefined>
}

export type AnnouncingDeps = {
  /** What the network is to learn, by our copies of the cluster, now. */
  state: () => Announcements
  configurator: Configurator
  /** Told of a problem once, and again when it was away in between. */
  complain: (problem: Problem) => void
  /** After that long what somebody else did to our configuration is put right. */
  resyncMs: number
}

/** Brings what the announcing software reads to what the cluster is to announce. */
export function announcing({ state, configurator, complain, resyncMs }: AnnouncingDeps): Announcing {
  let running: Announcements | undefined
  let told = new Set<string>()
  return {
    name: 'announcing',
    async reconcile(_key, signal) {
      running = state()
      try {
        const { problems, ...done } = await configurator.carryOut(running, signal)
        for (const one of problems) if (!told.has(sameness(one))) complain(one)
        told = new Set(problems.map(sameness))
        return { againInMs: againInMs(done) ?? resyncMs }
      } finally {
        running = undefined
      }
    },
    async holds(address, signal) {
      const shownIn = ({ addresses }: Announcements) => addresses.find((one) => one.address === address)
      const shown = shownIn(state())
      if (shown) return { services: shown.services }
      const isWritten = (running && shownIn(running)) ?? (await configurator.announces(address, signal))
      return isWritten ? { services: [] } : undefined
    },
  }
}

function againInMs({ isChanged, isRefused }: Omit<Configured, 'problems'>): number | undefined {
  if (isChanged) return verdictMs
  return isRefused ? refusedMs : undefined
}

/** What is the same for two problems that are one: the API server gives several reasons in any order. */
function sameness({ subject, message }: Problem): string {
  return JSON.stringify([subject, message.split(/\W+/).toSorted()])
}
