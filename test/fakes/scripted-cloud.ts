import {
  type Cloud,
  CloudError,
  type Fault,
  type Marks,
  type Reservation,
  type ReservationRequest,
} from '../../clouds/ports/cloud.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import { copyOf } from './copy.ts'

/**
 * The outcome of a reserve. `requested`: the cloud grants it later. `lost`: it succeeds, but the answer is lost.
 * `unsaid`: nothing is done, but the caller cannot know. `doubled`: the cloud grants one of the addresses `doubles`. A
 * fault: it fails, and nothing was done.
 */
export type ReserveFate = 'reserved' | 'requested' | 'lost' | 'unsaid' | 'doubled' | Fault

export type ScriptedCloud = {
  cloud: Cloud
  /** The outcomes of the next reserves, in order. All later reserves have the outcome `otherwise`. */
  fates: ReserveFate[]
  otherwise: ReserveFate
  /** The addresses that it may grant a second time. */
  doubles: () => string[]
  /** While true, all attempts of an order get one address. */
  repeatsOrders: boolean
  /** While true, a new reservation is missing from the lists. */
  listsLate: boolean
  /** While true, no reservation is found by its id. */
  idsLate: boolean
  /** While true, a deleted reservation is still listed and found by its id. */
  deletesLate: boolean
  /** While true, the next reservation of its family gets the id, the address and the age of a deleted one. */
  recycles: boolean
  /** The provider's complaints about addresses, by the id of the reservation. */
  problems: Map<string, string>
  /** While set, every read fails. */
  unreadable: boolean
  /** While set, every release fails with this fault. */
  refusesRelease: Fault | undefined
  calls: { reserve: number; reservations: number; reservation: number; release: number }
  /** The reservations that the project pays for, whatever the lists show. */
  reserved(marks?: Marks): Reservation[]
  /** All reservations ever made, in order; only the last of those with the same id. */
  bought: Reservation[]
  /** The ids of the deleted reservations, in order. */
  released: string[]
  /** The ids of the reservations whose marks changed, in order. */
  marked: string[]
  /** While set, every change of marks fails with this fault. */
  refusesMark: Fault | undefined
  put(reservation: Reservation): void
  /** Makes the lists current. */
  catchUp(): void
  /** Makes the lists current and completes the deletions. */
  settle(): void
  /** Gives each reservation that has another one's address an address of its own. */
  correct(): void
  grant(id: string): void
  deny(id: string): void
}

/** A cloud in memory whose outcomes and delays the test sets. It is the port's contract, not a vendor's API. */
export function scriptedCloud(now: () => Date = () => new Date()): ScriptedCloud {
  const book = new Map<string, Reservation>()
  const unlisted = new Set<string>()
  const dying = new Set<string>()
  /** The ids of the IPv6 addresses. */
  const sixes = new Set<string>()
  const leftovers: Reservation[] = []
  const ordered = new Map<string, string>()
  let count = 0
  const gone = (id: string) => {
    const reservation = book.get(id)
    if (reservation && script.recycles && id.startsWith('res-')) leftovers.push(reservation)
    book.delete(id)
  }
  const read = <T>(what: T): T => {
    if (script.unreadable) throw fault('unavailable', 'nothing')
    return copyOf(what)
  }
  const script: ScriptedCloud = {
    fates: [],
    otherwise: 'reserved',
    doubles: () => [],
    repeatsOrders: false,
    listsLate: false,
    idsLate: false,
    deletesLate: false,
    recycles: false,
    problems: new Map(),
    unreadable: false,
    refusesRelease: undefined,
    calls: { reserve: 0, reservations: 0, reservation: 0, release: 0 },
    bought: [],
    released: [],
    marked: [],
    refusesMark: undefined,
    reserved: (marks = {}) => [...book.values()].filter(({ id, ...of }) => !dying.has(id) && carries(of, marks)),
    put: (reservation) => void book.set(reservation.id, reservation),
    catchUp: () => unlisted.clear(),
    settle() {
      script.catchUp()
      for (const id of dying) gone(id)
      dying.clear()
    },
    correct() {
      const taken = new Set<string>()
      for (const { id, address } of book.values()) {
        if (address === undefined) continue
        if (taken.has(address)) amend(id, { address: addressOf(id) })
        taken.add(address)
      }
    },
    grant: (id) => amend(id, { state: 'reserved', address: addressOf(id) }),
    deny: (id) => amend(id, { state: 'denied' }),
    cloud: {
      name: 'Scripted Cloud',
      get isReserveIdempotent() {
        return script.repeatsOrders
      },
      async reservations(marks, signal) {
        script.calls.reservations += 1
        throwIfUnsent(signal)
        return read([...book.values()].filter((one) => !unlisted.has(one.id) && carries(one, marks)))
      },
      async reservation(id, signal) {
        script.calls.reservation += 1
        throwIfUnsent(signal)
        return read(script.idsLate ? undefined : book.get(id))
      },
      async reserve({ location, marks, family = 'ipv4', order = '' }, signal) {
        script.calls.reserve += 1
        throwIfUnsent(signal)
        const fate = script.fates.shift() ?? script.otherwise
        if (fate === 'unsaid') throw fault('unavailable', 'unknown')
        if (!['reserved', 'requested', 'lost', 'doubled'].includes(fate)) throw fault(fate as Fault, 'nothing')
        const known = script.repeatsOrders ? book.get(ordered.get(order) ?? '') : undefined
        const reservation = known ?? buy(fate, { location, marks, family })
        ordered.set(order, reservation.id)
        if (fate === 'lost') throw fault('unavailable', 'unknown')
        return copyOf(reservation)
      },
      async mark({ id, marks: before }, marks, signal) {
        throwIfUnsent(signal)
        if (script.refusesMark) throw fault(script.refusesMark, 'nothing')
        const reservation = book.get(id)
        if (!reservation || !carries(reservation, before)) return
        const changed = Object.entries({ ...reservation.marks, ...marks }).filter(([, value]) => value !== undefined)
        book.set(id, { ...reservation, marks: Object.fromEntries(changed) as Marks })
        script.marked.push(id)
      },
      async release({ id, marks: before }, signal) {
        script.calls.release += 1
        throwIfUnsent(signal)
        if (script.refusesRelease) throw fault(script.refusesRelease, 'nothing')
        const reservation = book.get(id)
        if (!reservation || dying.has(id) || !carries(reservation, before)) return
        script.released.push(id)
        if (script.deletesLate) dying.add(id)
        else gone(id)
      },
      problems: async () => new Map(read([...script.problems])),
      locations: () => Promise.reject(new Error('the scripted cloud does not support this call')),
    },
  }

  function addressOf(id: string): string {
    return `${sixes.has(id) ? '2001:db8::' : '203.0.113.'}${id.replace('res-', '')}`
  }

  function buy(
    fate: ReserveFate,
    { location, marks, family }: Required<Omit<ReservationRequest, 'order'>>,
  ): Reservation {
    const leftover = takeLeftover(family)
    const id = leftover?.id ?? `res-${(count += 1)}`
    if (family === 'ipv6') sixes.add(id)
    const granted = fate !== 'requested'
    const isOfFamily = (text: string) => parseIpAddress(text)?.family === family
    const address = fate === 'doubled' ? script.doubles().findLast(isOfFamily) : undefined
    const reservation: Reservation = {
      id,
      address: granted ? (address ?? addressOf(id)) : undefined,
      state: granted ? 'reserved' : 'requested',
      location,
      marks: { ...marks },
      createdAt: leftover?.createdAt ?? now().toISOString(),
    }
    script.bought = [...script.bought.filter((one) => one.id !== id), reservation]
    book.set(id, reservation)
    if (script.listsLate) unlisted.add(id)
    return reservation
  }

  function takeLeftover(family: string): Reservation | undefined {
    const place = leftovers.findLastIndex(({ id }) => sixes.has(id) === (family === 'ipv6'))
    return place < 0 ? undefined : leftovers.splice(place, 1)[0]
  }

  function amend(id: string, change: Partial<Reservation>): void {
    const reservation = book.get(id)
    if (!reservation) throw new Error(`reservation ${id} does not exist`)
    book.set(id, { ...reservation, ...change })
  }
  return script
}

/** The address of a reservation, from its number. */

function carries({ marks }: Pick<Reservation, 'marks'>, wanted: Marks): boolean {
  return Object.entries(wanted).every(([name, value]) => marks[name] === value)
}

/** As in a vendor's client, a call that was aborted before it was sent does nothing. */
function throwIfUnsent(signal: AbortSignal): void {
  if (signal.aborted) throw fault('unavailable', 'nothing')
}

function fault(fault: Fault, outcome: 'nothing' | 'unknown'): CloudError {
  return new CloudError(`the scripted cloud says ${fault}`, { fault, outcome })
}
