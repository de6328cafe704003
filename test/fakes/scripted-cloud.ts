import { type Cloud, CloudError, type Fault, type Marks, type Reservation } from '../../clouds/cloud.ts'

/**
 * What comes of a reserve. `requested`: the cloud takes its time. `lost`: it is done, and the answer does not arrive.
 * `unsaid`: it is not done, and nobody can know. A fault: it is refused, and nothing was done.
 */
export type ReserveFate = 'reserved' | 'requested' | 'lost' | 'unsaid' | Fault

export type ScriptedCloud = {
  cloud: Cloud
  /** What becomes of the next reserves, in turn; of those after them `otherwise`. */
  fates: ReserveFate[]
  otherwise: ReserveFate
  /** While true, a new reservation is in no list. */
  listsLate: boolean
  /** While true, no reservation is found by its id. */
  idsLate: boolean
  /** While true, what was released is still listed and found. */
  deletesLate: boolean
  /** While set, no read is answered. */
  unreadable: boolean
  /** While set, every release is refused with it. */
  refusesRelease: Fault | undefined
  calls: { reserve: number; reservations: number; reservation: number; release: number }
  /** What is reserved in truth: bought, and not given back. */
  reserved(marks?: Marks): Reservation[]
  /** Everything that was ever bought, in order. */
  bought: Reservation[]
  /** The ids that were given back, in order. */
  released: string[]
  /** The ids whose marks were changed, in order. */
  marked: string[]
  /** While set, no marks are changed. */
  refusesMark: Fault | undefined
  put(reservation: Reservation): void
  /** The lists have caught up. */
  catchUp(): void
  /** So they have, and deletions are done. */
  settle(): void
  grant(id: string): void
  deny(id: string): void
}

/** A cloud in memory that does what the test wrote down for it. */
export function scriptedCloud(now: () => Date = () => new Date()): ScriptedCloud {
  const book = new Map<string, Reservation>()
  const unlisted = new Set<string>()
  const dying = new Set<string>()
  const gone = (id: string) => book.delete(id)
  const read = <T>(what: T): T => {
    if (script.unreadable) throw fault('unavailable', 'nothing')
    return structuredClone(what)
  }
  const script: ScriptedCloud = {
    fates: [],
    otherwise: 'reserved',
    listsLate: false,
    idsLate: false,
    deletesLate: false,
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
    grant: (id) => amend(id, { state: 'reserved', address: addressOf(id) }),
    deny: (id) => amend(id, { state: 'denied' }),
    cloud: {
      name: 'Scripted Cloud',
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
      async reserve({ location, marks }, signal) {
        script.calls.reserve += 1
        throwIfUnsent(signal)
        const fate = script.fates.shift() ?? script.otherwise
        if (fate === 'unsaid') throw fault('unavailable', 'unknown')
        if (!['reserved', 'requested', 'lost'].includes(fate)) throw fault(fate as Fault, 'nothing')
        const reservation = buy(fate, location, marks)
        if (fate === 'lost') throw fault('unavailable', 'unknown')
        return structuredClone(reservation)
      },
      async mark(id, marks, signal) {
        throwIfUnsent(signal)
        if (script.refusesMark) throw fault(script.refusesMark, 'nothing')
        const reservation = book.get(id)
        if (!reservation) return
        const changed = Object.entries({ ...reservation.marks, ...marks }).filter(([, value]) => value !== undefined)
        book.set(id, { ...reservation, marks: Object.fromEntries(changed) as Marks })
        script.marked.push(id)
      },
      async release(id, signal) {
        script.calls.release += 1
        throwIfUnsent(signal)
        if (script.refusesRelease) throw fault(script.refusesRelease, 'nothing')
        if (!book.has(id) || dying.has(id)) return
        script.released.push(id)
        if (script.deletesLate) dying.add(id)
        else gone(id)
      },
      locations: () => Promise.reject(new Error('the ledger has no use for this call')),
    },
  }

  function buy(fate: ReserveFate, location: string, marks: Marks): Reservation {
    const id = `res-${script.bought.length + 1}`
    const granted = fate !== 'requested'
    const reservation: Reservation = {
      id,
      address: granted ? addressOf(id) : undefined,
      state: granted ? 'reserved' : 'requested',
      location,
      marks: { ...marks },
      createdAt: now().toISOString(),
    }
    script.bought.push(reservation)
    book.set(id, reservation)
    if (script.listsLate) unlisted.add(id)
    return reservation
  }

  function amend(id: string, change: Partial<Reservation>): void {
    const reservation = book.get(id)
    if (!reservation) throw new Error(`${id} is not there`)
    book.set(id, { ...reservation, ...change })
  }
  return script
}

/** The address that the cloud gives for a reservation it numbered itself. */
const addressOf = (id: string) => `203.0.113.${id.replace('res-', '')}`

function carries({ marks }: Pick<Reservation, 'marks'>, wanted: Marks): boolean {
  return Object.entries(wanted).every(([name, value]) => marks[name] === value)
}

/** As a vendor's client does: what was given up before it was sent did nothing. */
function throwIfUnsent(signal: AbortSignal): void {
  if (signal.aborted) throw fault('unavailable', 'nothing')
}

function fault(fault: Fault, outcome: 'nothing' | 'unknown'): CloudError {
  return new CloudError(`the scripted cloud says ${fault}`, { fault, outcome })
}
