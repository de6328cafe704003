import { type Command, type CloudControl } from './control.ts'
import { answers, type Fault } from './faults.ts'
import type { LatencyRule } from './latency.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const count = { type: 'integer' }
const flag = { type: 'boolean' }

/** The commands that every simulated cloud has. */
export function sharedCommands(door: CloudControl): Command[] {
  return [...latencyCommands(door), ...faultCommands(door), ...callCommands(door), ...quotaCommands(door)]
}

function latencyCommands({ latency }: CloudControl): Command[] {
  return [
    { route: 'GET /latency', help: 'The delays that are set.', run: () => latency.all() },
    {
      route: 'PUT /latency',
      help: 'Delays every call, or those of one route ("on"), before any work is done.',
      example: '{"on":"POST /projects/*/ips","ms":250,"jitterMs":50}',
      fields: { on: text, ms: number, jitterMs: number },
      required: ['ms'],
      run({ body }) {
        latency.set(body as LatencyRule)
        return latency.all()
      },
    },
    { route: 'DELETE /latency', help: 'No delay any more.', run: () => latency.clear() },
  ]
}

function faultCommands({ faults }: CloudControl): Command[] {
  const answer = { anyOf: [count, { enum: [...answers] }] }
  const numbers = { times: count, ms: number, perPage: count, retryAfterSeconds: number }
  return [
    { route: 'GET /faults', help: 'The faults that are switched on.', run: () => faults.all() },
    {
      route: 'POST /faults',
      help: `Adds a fault: "answer" is a status, or ${answers.join(', ')}. "done": the work is done first.`,
      example: '{"on":"POST /projects/*/ips","answer":500,"done":true,"times":1}',
      fields: { on: text, answer, done: flag, message: text, location: text, ...numbers },
      required: ['answer'],
      run: ({ body }) => faults.add(body as Fault),
    },
    { route: 'DELETE /faults', help: 'Removes every fault.', run: () => faults.clear() },
    { route: 'DELETE /faults/:id', help: 'Removes one.', run: ({ params }) => faults.remove(Number(params['id'])) },
  ]
}

function callCommands({ calls }: CloudControl): Command[] {
  return [
    {
      route: 'GET /calls',
      help: 'The calls so far; ?on=GET+/ips/* for one route.',
      run: ({ query }) => calls.all(query['on']),
    },
    { route: 'GET /calls/counts', help: 'How many calls each route had.', run: () => calls.counts() },
    { route: 'DELETE /calls', help: 'Forgets the calls so far.', run: () => calls.clear() },
  ]
}

function quotaCommands({ quota }: CloudControl): Command[] {
  return [
    {
      route: 'PUT /quota',
      help: 'How many addresses every project, or one ("project"), may hold.',
      example: '{"addresses":10}',
      fields: { addresses: count, project: text },
      required: ['addresses'],
      run({ body }) {
        const { addresses, project } = body as { addresses: number; project?: string }
        quota.set(addresses, project)
      },
    },
  ]
}
