import { makeCallLog } from './call-log.ts'
import { command, milliseconds, text } from './command.ts'
import { findById } from './control-error.ts'
import { makeFaults } from './faults.ts'
import { makeLatency } from './latency.ts'
import { makeQuota } from './quota.ts'
import type { Scheduler } from './scheduler.ts'
import type { TokenControl } from './tokens.ts'
import { type BehaviourChoices, type BehaviourOf, chooseValues } from './unknown-behaviour.ts'

/** An object as a vendor's API shows it. */
export type Json = Record<string, unknown>

/** The controls of calls and of the quota, which every simulated cloud has. */
export type CloudControl = ReturnType<typeof makeCloudControl>

/** Makes the controls of calls and of the quota. */
export function makeCloudControl(quota: number) {
  return { latency: makeLatency(), faults: makeFaults(), calls: makeCallLog(), quota: makeQuota(quota) }
}

/** All controls that every simulated cloud has, in terms that fit every vendor. */
export type AccountControl = CloudControl & Omit<ReturnType<typeof accountControl>, 'unknowns' | 'setUnknowns'>

/** The state that every simulated cloud has. */
export type AccountState<Choices extends BehaviourChoices> = Scheduler & {
  behaviour: BehaviourOf<Choices>
  /** How long the API still shows a deleted object. */
  deletion: { reservationsMs: number; devicesMs: number }
}

/** How the controls of an account act on a vendor's objects; `kind` is the vendor's word for one. */
type Objects<T> = {
  all: ReadonlyMap<unknown, T>
  kind: string
  show: (one: T) => Json
  remove: (one: T) => void
}

type Account<Reservation, Device, NewDevice, Choices extends BehaviourChoices> = {
  state: AccountState<Choices>
  choices: Choices
  tokens: TokenControl
  reservations: Objects<Reservation> & {
    /** Whether the vendor calls it a reservation; every one when absent. */
    isOne?: (one: Reservation) => boolean
    assign: (one: Reservation, device: Device | undefined) => void
  }
  devices: Objects<Device> & {
    /** Adds a machine that already runs. */
    add: (wanted: NewDevice) => Device
    power: (one: Device, to: 'on' | 'off') => void
    /** The fields of a new machine besides its host name and its project, and an example. */
    fields: Record<string, object>
    example: string
  }
}

type AnyReservation = { id: string | number; isDeleting?: boolean | undefined }
type AnyNewDevice = { hostname: string; project?: string }

/** Makes the controls of the account behind the API, which are the same for every vendor. */
export function accountControl<
  Reservation extends AnyReservation,
  Device,
  NewDevice extends { hostname: string } = AnyNewDevice,
  Choices extends BehaviourChoices = BehaviourChoices,
>(account: Account<Reservation, Device, NewDevice, Choices>) {
  const { state, tokens } = account
  return {
    reservations: reservationControl(account),
    devices: deviceControl(account),
    tokens,
    setDeletion: command(
      {
        route: 'PUT /deletion',
        help: 'Sets how long the API still shows deleted objects.',
        example: '{"reservationsMs":5000,"devicesMs":5000}',
        optional: { reservationsMs: milliseconds, devicesMs: milliseconds },
      },
      (deletion: Partial<typeof state.deletion>) => void Object.assign(state.deletion, deletion),
    ),
    ...unknownControl(account),
  }
}

function reservationControl<Reservation extends AnyReservation, Device>({
  state,
  reservations: { all: known, kind, isOne = () => true, show, remove, assign },
  devices,
}: Pick<Account<Reservation, Device, never, BehaviourChoices>, 'state' | 'reservations' | 'devices'>) {
  const all = () => {
    state.runDue()
    return [...known.values()].filter(isOne)
  }
  const find = (id: string) => {
    state.runDue()
    return findById(known, id, kind)
  }
  return {
    /** Returns every reservation as the API shows it, which may include blocks of the vendor. */
    all: command({ route: 'GET /reservations', help: 'Lists the reservations of every project.' }, () =>
      all().map(show),
    ),
    /** Returns the ids of deleted reservations that the API still shows. */
    deleting: () => all().flatMap(({ id, isDeleting }) => (isDeleting ? [String(id)] : [])),
    vanish: command(
      { route: 'DELETE /reservations/:id', help: 'Removes a reservation as if the vendor had lost it.' },
      (id: string) => remove(find(id)),
    ),
    assign: command(
      {
        route: 'PUT /reservations/:id/machine',
        help: 'Assigns an address to this device alone, as a person does in the console; without "machine" to none.',
        example: '{"machine":"<the id of a device>"}',
        optional: { machine: text },
        spreads: true,
      },
      (id: string, machine: string | undefined) =>
        assign(find(id), machine === undefined ? undefined : findById(devices.all, machine, devices.kind)),
    ),
  }
}

function deviceControl<Device, NewDevice extends { hostname: string }>({
  state,
  devices: { all, kind, show, add, power, remove, fields, example },
}: Pick<Account<never, Device, NewDevice, BehaviourChoices>, 'state' | 'devices'>) {
  const find = (id: string) => {
    state.runDue()
    return findById(all, id, kind)
  }
  const change = (id: string, act: (one: Device) => void) => {
    act(find(id))
    return show(find(id))
  }
  return {
    all: command({ route: 'GET /devices', help: 'Lists the devices of every project.' }, () => {
      state.runDue()
      return [...all.values()].map(show)
    }),
    add: command(
      {
        route: 'POST /devices',
        help: 'Adds a device that runs, in the first project unless "project" names another.',
        example,
        fields: { hostname: text },
        optional: { project: { anyOf: [text, { type: 'number' }] }, ...fields },
      },
      (wanted: NewDevice) => show(add(wanted)),
    ),
    powerOff: command({ route: 'POST /devices/:id/power-off', help: 'Switches a device off.' }, (id: string) =>
      change(id, (one) => power(one, 'off')),
    ),
    powerOn: command({ route: 'POST /devices/:id/power-on', help: 'Switches a device on.' }, (id: string) =>
      change(id, (one) => power(one, 'on')),
    ),
    remove: command({ route: 'DELETE /devices/:id', help: 'Removes a device.' }, (id: string) => remove(find(id))),
  }
}

/** The control of the status that a vendor's server shows. */
export function statusControl<Server extends { status: string }>(
  state: Scheduler & { servers: ReadonlyMap<unknown, Server> },
  statuses: readonly Server['status'][],
  show: (server: Server) => Json,
) {
  return command(
    {
      route: 'PUT /devices/:id/status',
      help: 'Sets the status that a server shows.',
      example: JSON.stringify({ status: statuses.at(-1) }),
      fields: { status: { enum: [...statuses] } },
      spreads: true,
    },
    (id: string, status: Server['status']) => {
      // A change that became due before this one does not undo it.
      state.runDue()
      return show(Object.assign(findById(state.servers, id, 'server'), { status }))
    },
  )
}

/** The control that returns the id of the server that gets the traffic of an address; undefined if none does. */
export function routeControl(serverAt: (address: string) => string | undefined) {
  return command(
    {
      route: 'GET /routes/:id',
      help: 'Shows the server that gets the traffic of an address.',
      answer: (server) => ({ server: server ?? null }),
    },
    serverAt,
  )
}

/** The controls of behaviour that the vendor does not document. */
function unknownControl<Choices extends BehaviourChoices>({
  state,
  choices,
}: Pick<Account<never, never, never, Choices>, 'state' | 'choices'>) {
  const [[name, values] = ['', ['']]] = Object.entries(choices)
  return {
    unknowns: command(
      {
        route: 'GET /unknowns',
        help: 'Shows how the provider behaves where the vendor documents nothing, and the possible values.',
        answer: (now) => ({ now, possible: choices }),
      },
      () => ({ ...state.behaviour }),
    ),
    setUnknowns: command(
      {
        route: 'PUT /unknowns',
        help: 'Changes how the provider behaves there.',
        example: JSON.stringify({ [name]: values.at(-1) }),
        optional: Object.fromEntries(Object.entries(choices).map(([one, known]) => [one, { enum: [...known] }])),
      },
      (given: Partial<BehaviourOf<Choices>>) => {
        state.behaviour = chooseValues(choices, { ...state.behaviour, ...given })
        return { ...state.behaviour }
      },
    ),
  }
}
