import type { FastifyInstance } from 'fastify'
import type { CallLog } from './call-log.ts'
import { ControlError } from './control-error.ts'
import type { Faults } from './faults.ts'
import { jsonWhateverItSays } from './json-bodies.ts'
import type { Latency } from './latency.ts'
import type { Quota } from './quota.ts'

/** What every simulated cloud can be told and asked, in the same process or, as commands, over HTTP. */
export type CloudControl = { latency: Latency; faults: Faults; calls: CallLog; quota: Quota }

/** An object as a vendor's API shows it. */
export type Json = Record<string, unknown>

/** What it can be told and asked about the account behind it, in words that fit every vendor. */
export type AccountControl = CloudControl & {
  reservations: {
    /** Every reserved address of every project, as the API shows it; the vendor's own blocks may be among them. */
    all(): Json[]
    /** The ids of those among them that were deleted and are still shown. */
    leaving(): string[]
    /** It is gone, and nobody deleted it. */
    vanish(id: string): void
  }
  devices: {
    all(): Json[]
    /** A machine that runs at once, in the first project unless said otherwise. */
    add(device: { hostname: string; project?: string }): Json
    powerOff(id: string): Json
    powerOn(id: string): Json
    remove(id: string): void
  }
  /** How long a deleted object is still shown, from now on. */
  setDeletion(deletion: Deletion): void
}

export type Deletion = { reservationsMs?: number; devicesMs?: number }

type Schema = Record<string, unknown>

/** One thing that the door does over HTTP. */
export type Command = {
  /** Method and path below the door, like `DELETE /faults/:id`. */
  route: string
  help: string
  /** A body to copy. */
  example?: string
  /** JSON Schema of the fields that the body may have; no body is read when absent. */
  fields?: Record<string, Schema>
  required?: string[]
  run: (call: { params: Record<string, string>; query: Record<string, string>; body: unknown }) => unknown
}

/** Serves commands below `/control`, and at `/control` itself a page that says what there is. */
export async function serveControl(app: FastifyInstance, name: string, commands: Command[]): Promise<void> {
  jsonWhateverItSays(app)
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
  if (typeof extra === 'string') return `no field "${extra}"; there are ${fields.join(', ')}`
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
  return `The control door of the simulated ${name}

Bodies are JSON, whatever content type is sent. Faults and latency never apply to the door itself.
"on" names calls by method, path or both, without the API's base path: "POST /projects/*/ips", "/ips/**", "DELETE".

${paragraphs.join('\n')}
`
}
