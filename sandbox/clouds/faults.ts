import { command, count, flag, text } from './command.ts'
import { ControlError } from './control-error.ts'
import { routeMatcher, type RouteMatcher } from './route-matcher.ts'

/**
 * The outcome of a call instead of its answer. 502, 503 and 504 are HTML pages of an edge server; `web-page` is one
 * with 200.
 */
const answers = [
  'reset',
  'hang',
  'slow',
  'redirect',
  'web-page',
  'empty-list',
  'short-pages',
  'shuffled-list',
  'other-address',
  'other-id',
] as const

export type Fault = {
  /** The calls that it applies to, such as `POST /projects/{id}/ips`; every call when absent. */
  on?: string
  /** A status from 400 to 599, or one of `answers`. */
  answer: number | (typeof answers)[number]
  /** Does the work first: then a reset or a 500 loses the answer, but not the reservation. */
  done?: boolean
  /** How many calls it strikes; when absent, every call until it is removed. */
  times?: number
  /** `slow`: by how much the answer is delayed. */
  ms?: number
  /** `redirect`: the target; when absent, the same URL with plain HTTP. */
  location?: string
  /** `short-pages`: the maximum size of a page, whatever size the client requests. */
  perPage?: number
  /** `other-address`: what the answer has in place of each address. */
  address?: string
  /** `other-id`: the id that the answer has in place of its object's own. */
  otherId?: string | number
  /** For a status: the answer has no body, as an edge server sends it. */
  empty?: boolean
  /** For a status: the Retry-After header; none when absent. */
  retryAfterSeconds?: number
  /** For a status: the text of the error; the vendor's usual text when absent. */
  message?: string
  /** For a status: the code of the error, where the vendor has codes; the usual one when absent. */
  code?: string
}

export type ActiveFault = Fault & { id: number; struck: number }

export type Faults = ReturnType<typeof makeFaults>

const number = { type: 'number' }

const addition = {
  route: 'POST /faults',
  help: `Adds a fault. "answer" is a status, or ${answers.join(', ')}. With "done" the provider does the work first.`,
  example: '{"on":"POST /projects/*/ips","answer":500,"done":true,"times":1}',
  fields: { answer: { anyOf: [count, { enum: [...answers] }] } },
  optional: {
    on: text,
    done: flag,
    times: count,
    ms: number,
    location: text,
    perPage: count,
    address: text,
    empty: flag,
    retryAfterSeconds: number,
    message: text,
    code: text,
  },
}

/** Makes the list of active faults. */
export function makeFaults() {
  let faults: { fault: ActiveFault; matches: RouteMatcher }[] = []
  let lastId = 0
  const drop = (id: number) => {
    faults = faults.filter(({ fault }) => fault.id !== id)
  }
  return {
    all: command({ route: 'GET /faults', help: 'Lists the active faults.' }, () =>
      faults.map(({ fault }) => ({ ...fault })),
    ),
    add: command(addition, (wanted: Fault): ActiveFault => {
      check(wanted)
      const matches = routeMatcher(wanted.on)
      const fault = { id: ++lastId, ...wanted, struck: 0 }
      faults.push({ fault, matches })
      return { ...fault }
    }),
    clear: command({ route: 'DELETE /faults', help: 'Removes every fault.' }, () => void (faults = [])),
    remove: command({ route: 'DELETE /faults/:id', help: 'Removes one fault.' }, (id: number | string) => {
      if (!faults.some(({ fault }) => fault.id === Number(id))) throw new ControlError(`no fault has the id ${id}`, 404)
      drop(Number(id))
    }),
    /** Returns the fault that strikes this call, and counts it; of several, the one added first. */
    strike(method: string, path: string): ActiveFault | undefined {
      const fault = faults.find(({ matches }) => matches(method, path))?.fault
      if (!fault) return undefined
      fault.struck += 1
      if (fault.struck === fault.times) drop(fault.id)
      return fault
    },
    /** Undoes a strike: the cloud refused the call before it did the work that the fault should follow. */
    restore(fault: ActiveFault): void {
      fault.struck -= 1
      if (!faults.some((one) => one.fault.id === fault.id)) faults.push({ fault, matches: routeMatcher(fault.on) })
    },
  }
}

/** Describes a fault in a few words, for the call log. */
export function describeFault({ answer, done }: Fault): string {
  return done ? `done, then ${answer}` : String(answer)
}

function check({ answer, times, ms, perPage, address, otherId }: Fault): void {
  const known = typeof answer === 'number' ? answer >= 400 && answer <= 599 : answers.includes(answer)
  if (!known) throw new ControlError(`answer ${answer}: expected a status from 400 to 599, or ${answers.join(', ')}`)
  if (answer === 'slow' && ms === undefined) throw new ControlError('answer "slow" needs "ms"')
  if (answer === 'other-address' && !address) throw new ControlError('answer "other-address" needs "address"')
  if (answer === 'other-id' && otherId === undefined) throw new ControlError('answer "other-id" needs "otherId"')
  if (answer === 'short-pages' && !(perPage && perPage > 0))
    throw new ControlError('"short-pages" needs "perPage" above 0')
  if (times !== undefined && times < 1) throw new ControlError('times is 1 or more')
}
