import type { Peering, ProjectPeering } from '../../clouds/ports/peering.ts'
import type { Log } from '../../kube/log.ts'

export type ProjectPeeringDeps = {
  peering: Pick<Peering, 'project' | 'enable'>
  /** The peering that the settings want. */
  wanted: ProjectPeering
  log: Log
}

/** The default of the settings: the operator may not have set it. */
const usualAsn = 65_000

/** Enables BGP on the project. A project that has it keeps its own ASN and password. */
export function projectPeering({ peering, wanted, log }: ProjectPeeringDeps): (signal: AbortSignal) => Promise<void> {
  let warned: string | undefined
  return async (signal) => {
    const found = await peering.project(signal)
    if (!found) {
      await peering.enable(wanted, signal)
      log.info({ asn: wanted.asn, hasPassword: wanted.password !== undefined }, 'BGP enabled on the project')
      return
    }
    const warning = overruled(wanted, found)
    if (warning !== undefined && warning !== warned) log.warn({ warning }, 'BGP of the project')
    warned = warning
  }
}

/** Names the settings that the project overrules, without any password. */
export function overruled(wanted: ProjectPeering, found: ProjectPeering): string | undefined {
  const isDecided = wanted.asn !== undefined && found.asn !== undefined
  const isOtherAsn = isDecided && wanted.asn !== found.asn && wanted.asn !== usualAsn
  const isOtherPassword = wanted.password !== undefined && wanted.password.reveal() !== found.password?.reveal()
  const differences = [
    ...(isOtherAsn ? [`its ASN is ${found.asn} and not ${wanted.asn}`] : []),
    ...(isOtherPassword ? [found.password ? 'its password is another one' : 'it has no password'] : []),
  ]
  if (differences.length === 0) return undefined
  return `BGP was already enabled, and the project keeps its values instead of the settings': ${differences.join(', and ')}`
}
