import { METHODS } from 'node:http'
import { ControlError } from './control-error.ts'

export type RouteMatcher = (method: string, path: string) => boolean

const oneSegment = /^(\*|:.+|\{.+\})$/

/**
 * Makes a matcher from a method, a path or both: `POST /projects/{id}/ips`, `/ips/**`, `DELETE`, or `*` for every call.
 * Paths are those of the vendor's documentation, without the base path; `*`, `:id` and `{id}` match one segment.
 */
export function routeMatcher(on = '*'): RouteMatcher {
  const words = on.trim().split(/\s+/)
  const path = words.find((word) => word.startsWith('/'))
  const method = words.find((word) => word !== path)?.toUpperCase() ?? '*'
  if (words.length > 2 || (method !== '*' && !METHODS.includes(method)))
    throw new ControlError(`route "${on}": expected a method, a path or both, like "POST /projects/*/ips"`)
  return (calledMethod, calledPath) =>
    (method === '*' || method === calledMethod) && (path === undefined || matchesPath(path, calledPath))
}

function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const called = path.split('/')
  const rest = wanted.at(-1) === '**'
  if (rest ? called.length < wanted.length : called.length !== wanted.length) return false
  return wanted.every((segment, n) => segment === called[n] || oneSegment.test(segment) || (rest && segment === '**'))
}
