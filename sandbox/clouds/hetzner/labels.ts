import { invalidInput } from './errors.ts'

export type Labels = Record<string, string>

const segment = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const prefix = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/

/**
 * Returns the labels of a request's body; throws if one breaks the vendor's rules, which are the same as in Kubernetes.
 */
export function readLabels(given: unknown): Labels {
  if (given === undefined || given === null) return {}
  if (typeof given !== 'object' || Array.isArray(given)) throw invalidInput('labels', 'must be an object')
  for (const [key, value] of Object.entries(given)) {
    const problem = isLabelKey(key) ? undefined : `invalid label key "${key}"`
    const wrong = typeof value === 'string' && isLabelValue(value) ? undefined : `invalid value of label "${key}"`
    if (problem ?? wrong) throw invalidInput('labels', problem ?? wrong ?? '')
  }
  return { ...given }
}

/** Whether a text can be the key of a label: a name, with a DNS prefix before a slash or without. */
function isLabelKey(key: string): boolean {
  const [name = '', before, ...more] = key.split('/').toReversed()
  if (more.length > 0 || !segment.test(name)) return false
  return before === undefined || (before.length <= 253 && prefix.test(before) && before !== 'hetzner.cloud')
}

/** Whether a text can be the value of a label; the empty text can. */
function isLabelValue(value: string): boolean {
  return value === '' || segment.test(value)
}

type Requirement = (labels: Labels) => boolean

/** Parses a label selector such as `a=b,!c,d in (e,f)`; throws if it is invalid. */
export function parseSelector(text: string): Requirement {
  const parts = text === '' ? [] : text.split(/,(?![^(]*\))/).map((part) => requirement(part.trim()))
  return (labels) => parts.every((matches) => matches(labels))
}

function requirement(text: string): Requirement {
  const [, name, not, list] = /^(\S+) (not)?in \(([^)]*)\)$/.exec(text) ?? []
  if (name !== undefined && list !== undefined && isLabelKey(name)) {
    const values = list.split(',').map((value) => value.trim())
    return (labels) => (labels[name] !== undefined && values.includes(labels[name])) !== (not !== undefined)
  }
  const [, key = '', operator, value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(text) ?? []
  if (operator !== undefined && isLabelKey(key) && isLabelValue(value))
    return (labels) => (labels[key] === value) === (operator !== '!=')
  const isAbsent = text.startsWith('!')
  const only = isAbsent ? text.slice(1) : text
  if (!isLabelKey(only)) throw invalidInput('label_selector', `invalid label selector "${text}"`)
  return (labels) => (labels[only] === undefined) === isAbsent
}
