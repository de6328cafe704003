import type { FastifyInstance } from 'fastify'
import type { CallLog } from './call-log.ts'
import { ControlError } from './control-error.ts'
import type { Faults } from './faults.ts'
import { parseEveryBody } from './json-bodies.ts'
import type { Latency } from './latency.ts'
import type { Quota } from './quota.ts'
import type { TokenControl } from './tokens.ts'

/** The controls that every simulated cloud has, for code in the same process and, as commands, over HTTP. */
export type CloudControl = { latency: Latency; faults: Faults; calls: CallLog; quota: Quota }

/** An object as a vendor's API shows it. */
export type Json = Record<string, unknown>

/** The controls of the account behind the API, in terms that fit every vendor. */
export type AccountControl = CloudControl & {
  reservations: {
    /** Returns every reservation of every project as the API shows it, which may include blocks of the vendor. */
    all(): Json[]
    /** Returns the ids of deleted reservations that the API still shows. */
    deleting(): string[]
    /** Removes a reservation without a client's call, as if the vendor had lost it. */
    vanish(id: string): void
    /** Assigns its address to this machine alone, or to none, as a person does in the vendor's console. */
    assign(id: string, machine: string | undefined): void
  }
  devices: {
    all(): Json[]
    /** Adds a machine that already runs, in the first project unless `project` names another. */
    add(device: { hostname: string; project?: string }): Json
    powerOff(id: string): Json
    powerOn(id: string): Json
    remove(id: string): void
  }
  tokens: TokenControl
  /** Sets how long the API still shows a deleted object. */
  setDeletion(deletion: Deletion): void
}

export type Deletion = { reservationsMs?: number; devicesMs?: number }

type Schema = Record<string, unknown>

/** A command of the control API. */
export type Command = {
  /** The method, and the path below `/control`, such as `DELETE /faults/:id`. */
  route: string
  help: string
  /** An example of a body. */
  example?: string
  /** JSON Schemas of the body's fields; when absent, the command reads no body. */
  fields?: Record<string, Schema>
  required?: string[]
  run: (call: { params: Record<string, string>; query: Record<string, string>; body: unknown }) => unknown
}

/** Serves the commands below `/control`, and a help page at `/control` itself. */
export async function serveControl(app: FastifyInstance, name: string, commands: Command[]): Promise<void> {
  parseEveryBody(app)
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof ControlError ? error.status : isInvalid(error) ? 400 : 500
    if (status === 500) console.error(error)
    return reply.code(status).send(pretty({ wrong: error instanceof Error ? error.message : String(error) }))
  })
  app.setNotFoundHandler((request, reply) => {
    const wrong = `no command ${request.method} ${request.url}; GET /control lists them`
    return reply.code(404).type('application/json').send(pretty({ wrong }))
  })
  app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'))
  app.get('/', (_request, reply) => reply.type('text/plain; charset=utf-8').send(helpPage(name, commands)))
  for (const command of commands) serve(app, command)
}

function serve(app: FastifyInstance, { route, fields, required = [], run }: Command): void {
  const [method = '', url = ''] = route.split(' ')
  const body = { type: 'object', properties: fields, required, additionalProperties: false }
  app.route({
    method,
    url,
    schema: fields ? { body } : {},
    schemaErrorFormatter: ([first]) => new ControlError(explain(first, Object.keys(fields ?? {}))),
    async handler(request, reply) {
      const params = request.params as Record<string, string>
      const query = request.query as Record<string, string>
      const result = await run({ params, query, body: request.body ?? {} })
      return reply.type('application/json; charset=utf-8').send(pretty(result ?? { done: true }))
    },
  })
}

type SchemaProblem = { instancePath: string; message?: string; params: Record<string, unknown> }

function explain(problem: SchemaProblem | undefined, fields: string[]): string {
  const extra = problem?.params['additionalProperty']
  if (typeof extra === 'string') return `unknown field "${extra}": expected one of ${fields.join(', ')}`
  return `the body${problem?.instancePath.replaceAll('/', '.') ?? ''} ${problem?.message ?? 'is not right'}`
}

function isInvalid(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 400
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function helpPage(name: string, commands: Command[]): string {
  const paragraphs = commands.map(({ route, help, example }) => {
    const [method = '', path = ''] = route.split(' ')
    const line = `${method.padEnd(7)}/control${path.replace(/:(\w+)/g, '{$1}')}`
    return [line, `         ${help}`, ...(example ? [`         -d '${example}'`] : [])].join('\n')
  })
  return `The control API of the simulated ${name}

Send bodies as JSON, with any content type. Faults and latency do not apply to the control API.
"on" selects calls by method, path or both, without the API's base path: "POST /projects/*/ips", "/ips/**", "DELETE".

${paragraphs.join('\n')}
`
}
