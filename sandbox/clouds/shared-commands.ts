import { type Command, type CloudControl } from './control.ts'
import { answers, type Fault } from './faults.ts'
import type { LatencyRule } from './latency.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const count = { type: 'integer' }
const flag = { type: 'boolean' }

/** Returns the commands for latency, faults, calls and quota, which every simulated cloud has. */
export function sharedCommands(control: CloudControl): Command[] {
  return [...latencyCommands(control), ...faultCommands(control), ...callCommands(control), ...quotaCommands(control)]
}

function latencyCommands({ latency }: CloudControl): Command[] {
  return [
    { route: 'GET /latency', help: 'Lists the delays.', run: () => latency.all() },
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
    { route: 'DELETE /latency', help: 'Removes every delay.', run: () => latency.clear() },
  ]
}

function faultCommands({ faults }: CloudControl): Command[] {
  const answer = { anyOf: [count, { enum: [...answers] }] }
  const numbers = { times: count, ms: number, perPage: count, retryAfterSeconds: number }
  return [
    { route: 'GET /faults', help: 'Lists the active faults.', run: () => faults.all() },
    {
      route: 'POST /faults',
      help: `Adds a fault. "answer" is a status, or ${answers.join(', ')}. With "done" the provider does the work first.`,
      example: '{"on":"POST /projects/*/ips","answer":500,"done":true,"times":1}',
      fields: { on: text, answer, done: flag, message: text, code: text, location: text, address: text, ...numbers },
      required: ['answer'],
      run: ({ body }) => faults.add(body as Fault),
    },
    { route: 'DELETE /faults', help: 'Removes every fault.', run: () => faults.clear() },
    {
      route: 'DELETE /faults/:id',
      help: 'Removes one fault.',
      run: ({ params }) => faults.remove(Number(params['id'])),
    },
  ]
}

function callCommands({ calls }: CloudControl): Command[] {
  return [
    {
      route: 'GET /calls',
      help: 'Lists the calls; ?on=GET+/ips/* selects a route.',
      run: ({ query }) => calls.all(query['on']),
    },
    { route: 'GET /calls/counts', help: 'Counts the calls of each route.', run: () => calls.counts() },
    { route: 'DELETE /calls', help: 'Clears the list of calls.', run: () => calls.clear() },
  ]
}

function quotaCommands({ quota }: CloudControl): Command[] {
  return [
    {
      route: 'PUT /quota',
      help: 'Sets how many addresses every project, or the one in "project", may have.',
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
