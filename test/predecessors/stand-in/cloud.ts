// The stand-ins' part of a vendor's API: the calls that the real programs send, in their order.
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeAddress } from '../../../kube/objects.ts'

export type Reservation = { id: string; address: string; has(tag: string): boolean }

/** A machine as a node shows it. */
export type Machine = {
  providerID: string
  addresses: NodeAddress[]
  type: string
  region: string
  zone?: string | undefined
  privateNetwork?: string | undefined
}

/** The BGP facts of a machine. */
export type Session = {
  localAsn: number
  peerAsn: number
  peers: string[]
  sourceAddress: string
  password?: string | undefined
}

export type PredecessorCloud = {
  /** Enables BGP for the project, once at the start. */
  enableProject(): Promise<void>
  machineNamed(hostname: string): Promise<Machine | undefined>
  machineOf(providerID: string): Promise<Machine | undefined>
  /** Enables BGP for a machine, and returns its session. */
  session(providerID: string): Promise<Session>
  reservations(): Promise<Reservation[]>
  /** Buys an address; tags are `name=value`. */
  reserve(tags: string[]): Promise<Reservation>
  remove(id: string): Promise<void>
}

/** The settings file of a predecessor, as far as both have it. */
export type SettingsFile = {
  apiKey: string
  projectID: string | number
  'base-url': string
  metro?: string
  region?: string
  bgpPass?: string
  loadbalancer: string
}

export type Send = (method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>

/** Sends requests with a token, and waits where the cloud says that there were too many. */
export function senderOf({ 'base-url': base }: SettingsFile, headers: Record<string, string>): Send {
  return async (method, path, body) => {
    for (;;) {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (answer.status !== 429) return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
      await sleep(500)
    }
  }
}

/** The body of an answer; throws for any that is no success. */
export function bodyOf({ status, body }: { status: number; body: unknown }): unknown {
  if (status >= 300) throw new Error(`the provider answered ${status}: ${JSON.stringify(body)}`)
  return body
}
