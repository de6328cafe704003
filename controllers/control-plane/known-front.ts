import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import type { Front, FrontReader } from './front.ts'

/** What we know of the control-plane address at the cloud. */
export type KnownFront = {
  /** As the last read showed it; undefined before the first, and if the cloud has none or several. */
  current: () => Front | undefined
  /** How long ago the last good read began; infinite before the first and after `forget`. */
  ageMs: () => number
  /** How long ago the answer of that read arrived: with a slow cloud the difference counts. */
  answerAgeMs: () => number
  /** Why there is no control-plane address that we could move. */
  problem(): string | undefined
  /** Makes the next look a live one. */
  forget(): void
  /** Lists what our setting names, and keeps it if it is one address. */
  find(signal: AbortSignal): Promise<void>
  /** Reads the address that we know, or finds it. */
  look(signal: AbortSignal): Promise<void>
}

export type KnownFrontOptions = {
  port: FrontReader
  now: () => number
  /** A read that takes longer is given up. */
  timeoutMs: number
  /** Called when another machine has the address than at the look before. */
  onChange: (front: Front, before: Front | undefined) => void
}

/** The control-plane address as the cloud last showed it. A failed read changes nothing and throws. */
export function knownFront({ port, now, timeoutMs, onChange }: KnownFrontOptions): KnownFront {
  let front: Front | undefined
  let [readAtMs, answeredAtMs] = [-Infinity, -Infinity]
  let problem: string | undefined

  const within = <T>(signal: AbortSignal, work: (ends: AbortSignal) => Promise<T>) =>
    withTimeLimit({ ms: timeoutMs, timeoutError: () => new Error(`no answer within ${timeoutMs} ms`), signal }, work)
  const keep = (found: Front, beganAtMs: number) => {
    const before = front
    front = { ...found, address: canonicalIpAddress(found.address) ?? found.address }
    readAtMs = beganAtMs
    answeredAtMs = now()
    problem = undefined
    if (before?.address !== front.address || before.machines.join() !== front.machines.join()) onChange(front, before)
  }
  const find = async (signal: AbortSignal) => {
    const beganAtMs = now()
    const found = await within(signal, (ends) => port.fronts(ends))
    const [only, ...others] = found
    if (only !== undefined && others.length === 0) return keep(only, beganAtMs)
    front = undefined
    readAtMs = beganAtMs
    problem = only === undefined ? (port.missing ?? missing(port)) : several(port, found)
  }

  return {
    current: () => front,
    ageMs: () => now() - readAtMs,
    answerAgeMs: () => (readAtMs === -Infinity ? Infinity : now() - answeredAtMs),
    problem: () => problem,
    forget: () => void (readAtMs = -Infinity),
    find,
    async look(signal) {
      if (front === undefined) return find(signal)
      const { id } = front
      const beganAtMs = now()
      const found = await within(signal, (ends) => port.front(id, ends))
      if (found === undefined) return find(signal)
      keep(found, beganAtMs)
    },
  }
}

function missing({ name }: FrontReader): string {
  return `no reservation of the project has the ${name}. We reserve none: reserve one, give it this tag, or correct the setting`
}

function several({ name }: FrontReader, found: Front[]): string {
  const addresses = found.map(({ address }) => address).join(', ')
  return `${found.length} reservations have the ${name} (${addresses}). Remove the tag from all but one of them`
}
