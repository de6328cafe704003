import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Json } from './metal-fixture.ts'

type Operation = { responses: Record<string, { content?: unknown }> }

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** The answers that an OpenAPI file specifies. */
export function readOpenApi(file: URL) {
  const spec = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, Record<string, Operation>> }
  // OpenAPI is no JSON Schema: keywords that Ajv does not know are documentation.
  const ajv = new Ajv({ strict: false, validateSchema: false, logger: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(spec, 'spec')
  const operation = (route: string): Operation | undefined => {
    const [method = '', path = ''] = route.split(' ')
    return spec.paths[path]?.[method.toLowerCase()]
  }
  return {
    /** Every operation, like `GET /ips/{id}`. */
    routes: Object.entries(spec.paths).flatMap(([path, operations]) =>
      methods.filter((method) => method in operations).map((method) => `${method.toUpperCase()} ${path}`),
    ),
    isDocumented: (route: string, status: number) => operation(route)?.responses[status] !== undefined,
    hasBody: (route: string, status: number) => operation(route)?.responses[status]?.content !== undefined,
    /** The problems of a body, by the schema of an answer. */
    problems: (route: string, status: number, body: Json): string[] => {
      const [method = '', path = ''] = route.split(' ')
      const steps = [
        'paths',
        path,
        method.toLowerCase(),
        'responses',
        String(status),
        'content',
        'application/json',
        'schema',
      ]
      return validate(ajv, `spec#/${steps.map(escape).join('/')}`, body)
    },
    /** The problems of a body, by a named schema. */
    problemsAs: (schema: string, body: Json): string[] => validate(ajv, `spec#/components/schemas/${schema}`, body),
  }
}

function validate(ajv: Ajv, $ref: string, body: Json): string[] {
  const check = ajv.getSchema($ref) ?? ajv.compile({ $ref })
  if (check(body) === true) return []
  return (check.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath || 'the body'} ${message}`)
}

function escape(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}
