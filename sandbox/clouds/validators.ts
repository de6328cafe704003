import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

/** Configured like fastify's own, except that the control API reports an unknown field as a mistake. */
const ajv = new Ajv({ useDefaults: true, removeAdditional: false, coerceTypes: false })
addFormats.default(ajv)

type Check = ((body: unknown) => boolean) & Pick<ValidateFunction, 'errors'>

const compiled = new Map<string, Check>()

type Validator = ((body: unknown) => boolean) & { errors?: ErrorObject[] | null }

/**
 * Makes the validator of a route. A cloud has dozens, and a test starts a cloud and calls few of them. So the first
 * call compiles a schema, once for all clouds of the process.
 */
export function validatorOf({ schema }: { schema: AnySchemaObject }): Validator {
  const key = JSON.stringify(schema)
  const validate: Validator = (body) => {
    const check = compiled.get(key) ?? (ajv.compile(schema) as Check)
    compiled.set(key, check)
    const isValid = check(body)
    validate.errors = check.errors ?? null
    return isValid
  }
  return validate
}
