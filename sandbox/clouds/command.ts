import type { FastifyInstance } from 'fastify'
import { ControlError } from './control-error.ts'
import { parseEveryBody } from './json-bodies.ts'

/** How a control of a simulated cloud is called over HTTP. Its arguments are the parameters of the path, then the body. */
type Command<Result> = {
  /** The method, and the path below `/control`, such as `DELETE /faults/:id`. */
  route: string
  help: string
  /** An example of a body. */
  example?: string
  /** JSON Schemas of the body's fields; without any, the command reads no body. */
  fields?: Record<string, object>
  optional?: Record<string, object>
  /** Each field is an argument of its own, in this order; when absent, the body is one argument. */
  spreads?: true
  /** The parameter of the query that is the last argument. */
  query?: string
  /** Returns the answer for a result; when absent, the answer is the result. */
  answer?: (result: Result) => unknown
}

type Served = ((...args: unknown[]) => unknown) & { command: Command<unknown> }

/** JSON Schemas of common fields. */
export const text = { type: 'string' }
export const texts = { type: 'array', items: text }
export const flag = { type: 'boolean' }
export const count = { type: 'integer', minimum: 0 }
export const milliseconds = { type: 'number', minimum: 0 }

/** Makes a control a command too, for people, and for tests in another process than the simulated cloud. */
export function command<Args extends unknown[], Result>(
  of: Command<Result>,
  control: (...args: Args) => Result,
): (...args: Args) => Result {
  return Object.assign(control, { command: of })
}

/** Serves the commands among the controls below `/control`, and a help page at `/control` itself. */
export async function serveCommands(app: FastifyInstance, name: string, control: object): Promise<void> {
  const commands = commandsIn(control)
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
  for (const one of commands) serve(app, one)
}

function commandsIn(control: object): Served[] {
  return Object.values(control).flatMap((one: Served | object) => {
    if (typeof one !== 'function') return typeof one === 'object' ? commandsIn(one) : []
    return 'command' in one ? [one] : []
  })
}

function serve(app: FastifyInstance, control: Served): void {
  const { route, fields, optional, spreads, query, answer = (result) => result } = control.command
  const [method = '', url = ''] = route.split(' ')
  const properties = { ...fields, ...optional }
  const names = Object.keys(properties)
  const schema = { type: 'object', properties, required: Object.keys(fields ?? {}), additionalProperties: false }
  app.route({
    method,
    url,
    schema: names.length > 0 ? { body: schema } : {},
    schemaErrorFormatter: ([first]) => new ControlError(explain(first, names)),
    async handler(request, reply) {
      const body = (request.body ?? {}) as Record<string, unknown>
      const result = await control(
        ...Object.values(request.params as object),
        ...(spreads ? names.map((name) => body[name]) : names.length > 0 ? [body] : []),
        ...(query === undefined ? [] : [(request.query as Record<string, unknown>)[query]]),
      )
      return reply.type('application/json; charset=utf-8').send(pretty(answer(result) ?? { done: true }))
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

function helpPage(name: string, commands: Served[]): string {
  const paragraphs = commands.map(({ command: { route, help, example } }) => {
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
