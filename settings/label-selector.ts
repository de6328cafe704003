import type { LabelRequirement } from '../lib/label-selector.ts'
import { isLabelValue, isQualifiedName } from '../lib/names.ts'
import type { Format } from './setting.ts'

const operators = { in: 'In', notin: 'NotIn', '=': 'In', '==': 'In', '!=': 'NotIn', '>': 'Gt', '<': 'Lt' } as const

/** The requirements of a label selector in the syntax of `kubectl -l`; undefined if the text is not one. */
export function parseLabelSelector(text: string): LabelRequirement[] | undefined {
  const parts = text.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim()))
  return parts.every((part) => part !== undefined) ? parts : undefined
}

function parseRequirement(text: string): LabelRequirement | undefined {
  const { not, existing } = /^(?<not>!?)\s*(?<existing>[^\s=!<>()]+)$/.exec(text)?.groups ?? {}
  if (existing !== undefined) return requirement(existing, not ? 'DoesNotExist' : 'Exists', [])
  const set = /^(\S+?)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text)
  if (set) return requirement(set[1], operators[set[2] as 'in' | 'notin'], (set[3] ?? '').split(','))
  const pair = /^([^\s=!<>]+)\s*(==?|!=|>|<)\s*([^=!<>()]*)$/.exec(text)
  return pair ? requirement(pair[1], operators[pair[2] as keyof typeof operators], [pair[3] ?? '']) : undefined
}

function requirement(
  key: string | undefined,
  operator: LabelRequirement['operator'],
  texts: string[],
): LabelRequirement | undefined {
  const values = texts.map((text) => text.trim())
  const isValue = operator === 'Gt' || operator === 'Lt' ? isInteger : isLabelValue
  return key !== undefined && isQualifiedName(key) && values.every(isValue) ? { key, operator, values } : undefined
}

function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text)
}

/** A label selector in the syntax of `kubectl -l`. */
export const labelSelector: Format<LabelRequirement[]> = {
  placeholder: 'selector',
  read: (given) => {
    const value = parseLabelSelector(given)
    return value ? { value } : { right: 'a label selector as for kubectl -l, such as role=edge,zone in (a, b),!spare' }
  },
}
