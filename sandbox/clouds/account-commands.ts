import type { AccountControl, Command, Deletion } from './control.ts'
import type { BehaviourOf, BehaviourChoices } from './unknown-behaviour.ts'

const milliseconds = { type: 'number', minimum: 0 }

/** Returns the id in a command's path. */
export const idOf = ({ params }: { params: Record<string, string> }): string => params['id'] ?? ''

/** Returns the commands for an account, which every simulated cloud has. */
export function accountCommands(control: AccountControl): Command[] {
  const { reservations, devices } = control
  return [
    { route: 'GET /reservations', help: 'Lists the reservations of every project.', run: () => reservations.all() },
    {
      route: 'DELETE /reservations/:id',
      help: 'Removes a reservation as if the vendor had lost it.',
      run: (call) => reservations.vanish(idOf(call)),
    },
    {
      route: 'PUT /reservations/:id/machine',
      help: 'Assigns an address to this device alone, as a person does in the console; without "machine" to none.',
      example: '{"machine":"<the id of a device>"}',
      fields: { machine: { type: 'string' } },
      run: (call) => reservations.assign(idOf(call), (call.body as { machine?: string }).machine),
    },
    {
      route: 'PUT /deletion',
      help: 'Sets how long the API still shows deleted objects.',
      example: '{"reservationsMs":5000,"devicesMs":5000}',
      fields: { reservationsMs: milliseconds, devicesMs: milliseconds },
      run: ({ body }) => control.setDeletion(body as Deletion),
    },
    ...tokenCommands(control),
    { route: 'GET /devices', help: 'Lists the devices of every project.', run: () => devices.all() },
    {
      route: 'POST /devices/:id/power-off',
      help: 'Switches a device off.',
      run: (call) => devices.powerOff(idOf(call)),
    },
    { route: 'POST /devices/:id/power-on', help: 'Switches a device on.', run: (call) => devices.powerOn(idOf(call)) },
    { route: 'DELETE /devices/:id', help: 'Removes a device.', run: (call) => devices.remove(idOf(call)) },
  ]
}

function tokenCommands({ tokens }: AccountControl): Command[] {
  return [
    {
      route: 'POST /tokens',
      help: 'Adds a token with the rights of the first one.',
      example: '{"token":"0123456789abcdef","label":"new"}',
      fields: { token: { type: 'string', minLength: 1 }, label: { type: 'string', minLength: 1 } },
      required: ['token', 'label'],
      run: ({ body }) => tokens.add(body as { token: string; label: string }),
    },
    {
      route: 'DELETE /tokens/:id',
      help: 'Revokes the token with this label.',
      run: (call) => tokens.revoke(idOf(call)),
    },
  ]
}

type UnknownControl<Q extends BehaviourChoices> = {
  unknowns(): BehaviourOf<Q>
  setUnknowns(given: Partial<BehaviourOf<Q>>): void
}

/** Returns the commands for behaviour that the vendor does not document. */
export function unknownCommands<Q extends BehaviourChoices>(choices: Q, control: UnknownControl<Q>): Command[] {
  const [[name, values] = ['', ['']]] = Object.entries(choices)
  return [
    {
      route: 'GET /unknowns',
      help: 'Shows how the provider behaves where the vendor documents nothing, and the possible values.',
      run: () => ({ now: control.unknowns(), possible: choices }),
    },
    {
      route: 'PUT /unknowns',
      help: 'Changes how the provider behaves there.',
      example: JSON.stringify({ [name]: values.at(-1) }),
      fields: Object.fromEntries(Object.entries(choices).map(([one, known]) => [one, { enum: [...known] }])),
      run({ body }) {
        control.setUnknowns(body as Partial<BehaviourOf<Q>>)
        return control.unknowns()
      },
    },
  ]
}
