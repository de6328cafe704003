import type { Announcements, Problem } from '../../announcers/announcer.ts'

export type ConfigureResult = {
  /** The refusals by the announcing software or the API server; everything else was carried out. */
  problems: Problem[]
  /** Whether anything was written; the software's reports about it come a moment later. */
  isChanged: boolean
  /** Whether changes wait for a later pass, because all at once would leave addresses without a route. */
  isUnfinished?: boolean
  /** Whether anything was refused or held back; a later write may succeed once the obstacle is gone. */
  isRefused: boolean
  /** An error that stopped nothing else: it is thrown once the problems are reported. */
  failure?: Error
}

export type Configurator = {
  /** Forgets what may have changed while another process led. */
  begin?(): void
  /** Writes what differs, and nothing else. */
  carryOut(state: Announcements, signal: AbortSignal): Promise<ConfigureResult>
  /** Whether the current configuration announces an address. */
  announces(address: string, signal: AbortSignal): Promise<boolean>
}

/** A configuration that other software may still read. */
export type FormerConfigurator = Configurator & {
  /**
   * Removes the addresses that are neither announced nor undecided, and changes nothing else, so sessions stay.
   * Resolves to whether there were any.
   */
  withdraw(state: Announcements, signal: AbortSignal): Promise<boolean>
}

/** The result of a pass that had nothing to do. */
export const nothingDone: ConfigureResult = { problems: [], isChanged: false, isRefused: false }

/** A problem of every Service with an address. */
export function problemsOfServices({ addresses }: Announcements, message: string): Problem[] {
  const services = new Set(addresses.flatMap((announced) => announced.services))
  return [...services].map((service) => ({ subject: { service }, message }))
}

/** The state in which a configuration has none of our entries. */
export const nothingToAnnounce: Announcements = { addresses: [], nodes: [] }
