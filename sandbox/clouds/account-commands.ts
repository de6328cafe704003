import type { AccountControl, Command, Deletion } from './control.ts'
import type { BehaviourOf, BehaviourChoices } from './unknown-behaviour.ts'

const milliseconds = { type: 'number', minimum: 0 }

/** The id in a command's path. */
export const idOf = ({ params }: { params: Record<string, string> }): string => params['id'] ?? ''

/** The commands about an account that every simulated cloud has. */
export function accountCommands(door: AccountControl): Command[] {
  const { reservations, devices } = door
  return [
    { route: 'GET /reservations', help: 'Every reservation of every project.', run: () => reservations.all() },
    {
      route: 'DELETE /reservations/:id',
      help: 'It vanishes, and nobody deleted it.',
      run: (call) => reservations.vanish(idOf(call)),
    },
    {
      route: 'PUT /deletion',
      help: 'How long what was deleted is still shown.',
      example: '{"reservationsMs":5000,"devicesMs":5000}',
      fields: { reservationsMs: milliseconds, devicesMs: milliseconds },
      run: ({ body }) => door.setDeletion(body as Deletion),
    },
    { route: 'GET /devices', help: 'Every device of every project.', run: () => devices.all() },
    { route: 'POST /devices/:id/power-off', help: 'Switches it off.', run: (call) => devices.powerOff(idOf(call)) },
    { route: 'POST /devices/:id/power-on', help: 'Switches it on.', run: (call) => devices.powerOn(idOf(call)) },
    { route: 'DELETE /devices/:id', help: 'It is gone.', run: (call) => devices.remove(idOf(call)) },
  ]
}

type Unknown<Q extends BehaviourChoices> = {
  unknowns(): BehaviourOf<Q>
  setUnknowns(given: Partial<BehaviourOf<Q>>): void
}

/** The commands about what nobody outside the vendor knows. */
export function unknownCommands<Q extends BehaviourChoices>(behaviourChoices: Q, door: Unknown<Q>): Command[] {
  const [[question, answers] = ['', ['']]] = Object.entries(behaviourChoices)
  return [
    {
      route: 'GET /unknowns',
      help: 'How it behaves where nobody knows how the real one does, and the other possibilities.',
      run: () => ({ now: door.unknowns(), possible: behaviourChoices }),
    },
    {
      route: 'PUT /unknowns',
      help: 'Makes it behave another way.',
      example: JSON.stringify({ [question]: answers.at(-1) }),
      fields: Object.fromEntries(Object.entries(behaviourChoices).map(([name, known]) => [name, { enum: [...known] }])),
      run({ body }) {
        door.setUnknowns(body as Partial<BehaviourOf<Q>>)
        return door.unknowns()
      },
    },
  ]
}
