import { ControlError } from './control-error.ts'
import { routeMatcher, type RouteMatcher } from './route-matcher.ts'

/** What a call meets instead of its answer. Statuses 502, 503 and 504 come as the HTML page of an edge server, `web-page` as one with status 200. */
export const answers = [
  'reset',
  'hang',
  'slow',
  'redirect',
  'web-page',
  'empty-list',
  'short-pages',
  'shuffled-list',
] as const

export type Fault = {
  /** The calls meant, like `POST /projects/{id}/ips`; every call when absent. */
  on?: string
  /** A status from 400 to 599, or one of `answers`. */
  answer: number | (typeof answers)[number]
  /** The work is carried out first: a reset or a 500 then loses the answer, not the reservation. */
  done?: boolean
  /** How many calls it strikes; all of them, until it is removed, when absent. */
  times?: number
  /** `slow`: how long the answer is held back. */
  ms?: number
  /** `redirect`: where to; the same address by plain HTTP when absent. */
  location?: string
  /** `short-pages`: the most that a page holds, whatever the client asks for. */
  perPage?: number
  /** A status: the Retry-After header, none when absent. */
  retryAfterSeconds?: number
  /** A status: the text of the error, the vendor's usual one when absent. */
  message?: string
}

export type ActiveFault = Fault & { id: number; struck: number }

export type Faults = {
  add(fault: Fault): ActiveFault
  all(): ActiveFault[]
  remove(id: number): void
  clear(): void
  /** The fault that strikes this call, counted; of several the one added first. */
  strike(method: string, path: string): ActiveFault | undefined
}

/** The faults that are switched on. */
export function makeFaults(): Faults {
  let faults: { fault: ActiveFault; matches: RouteMatcher }[] = []
  let lastId = 0
  const drop = (id: number) => {
    faults = faults.filter(({ fault }) => fault.id !== id)
  }
  return {
    add(wanted) {
      check(wanted)
      const matches = routeMatcher(wanted.on)
      const fault = { id: ++lastId, ...wanted, struck: 0 }
      faults.push({ fault, matches })
      return { ...fault }
    },
    all: () => faults.map(({ fault }) => ({ ...fault })),
    remove(id) {
      if (!faults.some(({ fault }) => fault.id === id)) throw new ControlError(`no fault has the id ${id}`, 404)
      drop(id)
    },
    clear() {
      faults = []
    },
    strike(method, path) {
      const fault = faults.find(({ matches }) => matches(method, path))?.fault
      if (!fault) return undefined
      fault.struck += 1
      if (fault.struck === fault.times) drop(fault.id)
      return fault
    },
  }
}

/** A fault in a few words, for the log of calls. */
export function describeFault({ answer, done }: Fault): string {
  return done ? `done, then ${answer}` : String(answer)
}

function check({ answer, times, ms, perPage }: Fault): void {
  const known = typeof answer === 'number' ? answer >= 400 && answer <= 599 : answers.includes(answer)
  if (!known) throw new ControlError(`answer ${answer}: expected a status from 400 to 599, or ${answers.join(', ')}`)
  if (answer === 'slow' && ms === undefined) throw new ControlError('answer "slow" needs "ms"')
  if (answer === 'short-pages' && !(perPage && perPage > 0))
    throw new ControlError('"short-pages" needs "perPage" above 0')
  if (times !== undefined && times < 1) throw new ControlError('times is 1 or more')
}
