import type { Peering, ProjectPeering } from '../../clouds/peering.ts'
import type { Log } from '../../kube/log.ts'
import type { Reconciler } from '../reconciler.ts'
import type { RecentRead } from '../../lib/recent-read.ts'

export type ProjectPeeringDeps = {
  peering: Pick<Peering, 'project' | 'enable'>
  /** What the settings say. */
  wanted: ProjectPeering
  log: Log
}

/** The default of the settings: nobody need have said it. */
const usualAsn = 65_000

/** Makes sure that BGP is on for the project. Where it is on already the project's own ASN and password count. */
export function projectPeering({ peering, wanted, log }: ProjectPeeringDeps): (signal: AbortSignal) => Promise<void> {
  let told: string | undefined
  return async (signal) => {
    const found = await peering.project(signal)
    if (!found) {
      await peering.enable(wanted, signal)
      log.info({ asn: wanted.asn, hasPassword: wanted.password !== undefined }, 'BGP enabled on the project')
      return
    }
    const warning = overruled(wanted, found)
    if (warning !== undefined && warning !== told) log.warn({ warning }, 'BGP of the project')
    told = warning
  }
}

/** What the settings say in vain, in words that give no password away. */
export function overruled(wanted: ProjectPeering, found: ProjectPeering): string | undefined {
  const isDecided = wanted.asn !== undefined && found.asn !== undefined
  const isOtherAsn = isDecided && wanted.asn !== found.asn && wanted.asn !== usualAsn
  const isOtherPassword = wanted.password !== undefined && wanted.password.reveal() !== found.password?.reveal()
  const differences = [
    ...(isOtherAsn ? [`its ASN is ${found.asn} and not ${wanted.asn}`] : []),
    ...(isOtherPassword ? [found.password ? 'its password is another one' : 'it has no password'] : []),
  ]
  if (differences.length === 0) return undefined
  return `BGP was on already, and the project keeps its own, whatever the settings say: ${differences.join(', and ')}`
}

/** The only key of the refresh: a cluster has one project. */
export const projectKey = 'project'

/** Looks at the project again and again, whether or not a node needs it. */
export function projectRefresh(deps: { project: RecentRead<void>; refreshMs: number }): Reconciler {
  const { project, refreshMs } = deps
  return {
    name: 'project-peering',
    async reconcile(_key, signal) {
      await project.within(refreshMs, signal)
      return { againInMs: refreshMs }
    },
  }
}
