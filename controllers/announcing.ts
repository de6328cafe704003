import type { Announcements, Problem } from '../announcers/announcer.ts'
import type { Configurator } from './configurator.ts'
import type { Reconciler } from './reconciler.ts'

/** The only key of an announcer: a burst of changes is one pass over everything. */
export const announcingKey = 'all'

/** How long the software has to think about what was written, before it is looked at again. */
const verdictMs = 2_000

export type Announcing = Reconciler & {
  /** Whether the network may still learn an address from us: by our copies, by a pass on its way, or by what is written. */
  holds(address: string, signal: AbortSignal): Promise<boolean>
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
        const { problems, isChanged } = await configurator.carryOut(running, signal)
        for (const one of problems) if (!told.has(JSON.stringify(one))) complain(one)
        told = new Set(problems.map((one) => JSON.stringify(one)))
        return { againInMs: isChanged ? verdictMs : resyncMs }
      } finally {
        running = undefined
      }
    },
    async holds(address, signal) {
      const isAbout = ({ addresses }: Announcements) => addresses.some((one) => one.address === address)
      if (isAbout(state()) || (running && isAbout(running))) return true
      return configurator.announces(address, signal)
    },
  }
}
