import type { Announcements, Problem } from '../../announcers/announcer.ts'

export type Configured = {
  /** What the announcing software, or the API server, would not have; everything else was carried out. */
  problems: Problem[]
  /** Whether anything was written: what the software thinks of it is known a moment later. */
  isChanged: boolean
  /** Whether anything was refused: that may be another time, when whoever refuses has changed. */
  isRefused: boolean
}

/** Tells the announcing software what to do, by whatever it reads. */
export type Configurator = {
  /** Writes what differs, and nothing else. */
  carryOut(state: Announcements, signal: AbortSignal): Promise<Configured>
  /** Whether what is written now has an address announced. */
  announces(address: string, signal: AbortSignal): Promise<boolean>
}
