import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { type AddressReader, type ControlPlaneAddress, timedRead } from './control-plane-address.ts'

export type KnownAddress = ReturnType<typeof knownAddress>

type ChangeListener = (now: ControlPlaneAddress, before: ControlPlaneAddress | undefined) => void

/** The control-plane address as the provider last showed it. A failed read changes nothing and throws. */
export function knownAddress({ port, now }: { port: AddressReader; now: () => number }) {
  let last: ControlPlaneAddress | undefined
  const { readSince, ...ages } = readTimes(now)
  let problem: string | undefined
  const listeners: ChangeListener[] = []

  const remember = (found: ControlPlaneAddress, beganAtMs: number) => {
    const before = last
    last = { ...found, address: canonicalIpAddress(found.address) ?? found.address }
    readSince(beganAtMs)
    if (before?.address === last.address && before.machines.join() === last.machines.join()) return
    for (const listener of listeners) listener(last, before)
  }
  /**
   * Lists the addresses that our setting names. A known address stays until the provider shows that it is deleted or no
   * longer named.
   */
  const find = async (signal: AbortSignal): Promise<void> => {
    const beganAtMs = now()
    const listed = await timedRead((ends) => port.list(ends), signal)
    const inList = listed.find(({ id }) => id === last?.id)
    // A single list may miss it. Only a read of the address itself proves that it is deleted or has lost its tag.
    const known = inList ?? (last && (await readNamed(port, last.id, signal)))
    const kept = known ?? (listed.length === 1 ? listed[0] : undefined)
    problem = problemOf(port, { listed, kept })
    if (kept) return remember(kept, beganAtMs)
    last = undefined
    readSince(beganAtMs)
  }

  return {
    ...ages,
    /** The address as of the last read; undefined before the first, if it is deleted, and if the first list has several. */
    current: () => last,
    /** The problem with the addresses that our setting names; a known address is guarded anyway. */
    problem: () => problem,
    find,
    /** Calls the listener when the address has moved to another machine since the previous look. */
    onChange: (listener: ChangeListener) => void listeners.push(listener),
    /** Reads the known address, or finds it. */
    async look(signal: AbortSignal) {
      if (last === undefined) return find(signal)
      const { id } = last
      const beganAtMs = now()
      const found = await readNamed(port, id, signal)
      if (found === undefined) return find(signal)
      remember(found, beganAtMs)
    },
  }
}

/** Reads an address live; undefined if it does not exist or our setting no longer names it. */
async function readNamed(port: AddressReader, id: string, signal: AbortSignal) {
  const found = await timedRead((ends) => port.read(id, ends), signal)
  return found?.isNamed ? found : undefined
}

/** When the last good read began, and when its answer came. */
function readTimes(now: () => number) {
  let [beganAtMs, answeredAtMs] = [-Infinity, -Infinity]
  let isForgotten = false
  return {
    readSince: (ms: number) => {
      beganAtMs = ms
      answeredAtMs = now()
      isForgotten = false
    },
    /** How long ago the last good read began; infinite before the first and after `forget`. */
    ageMs: () => (isForgotten ? Infinity : now() - beganAtMs),
    /** The same, but unaffected by `forget`. */
    sinceReadMs: () => now() - beganAtMs,
    /** How long ago the answer of that read arrived: with a slow provider the difference matters. */
    answerAgeMs: () => (isForgotten ? Infinity : now() - answeredAtMs),
    /** Makes the next look a live one. */
    forget: () => void (isForgotten = true),
  }
}

function problemOf(
  port: AddressReader,
  { listed, kept }: { listed: ControlPlaneAddress[]; kept: ControlPlaneAddress | undefined },
) {
  if (!kept && listed.length === 0) return port.missing ?? missing(port)
  const isListed = listed.some(({ id }) => id === kept?.id)
  const all = kept && !isListed ? [kept, ...listed] : listed
  if (all.length > 1) return several(port, { all, kept })
  return isListed ? undefined : `the provider's list lacks ${kept?.address}, although it exists; it is still guarded`
}

function missing({ name }: AddressReader): string {
  return `no reservation of the project has the ${name}. eip-admission reserves none: reserve one, give it this tag, or correct the setting`
}

function several(
  { name }: AddressReader,
  { all, kept }: { all: ControlPlaneAddress[]; kept: ControlPlaneAddress | undefined },
): string {
  const addresses = all.map(({ address }) => address).join(', ')
  const guarded = kept ? `only ${kept.address}` : 'none of them'
  return `${all.length} reservations have the ${name} (${addresses}). Remove the tag from all but one; until then ${guarded} is guarded`
}
