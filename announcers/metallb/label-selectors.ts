import type { LabelSelector } from './resources.ts'

type Labels = Record<string, string>

/** Whether a label selector of Kubernetes matches labels; one that nobody can read matches nothing. */
export function matches({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  const isSo = Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
  return isSo && matchExpressions.every((expression) => meets(expression, labels))
}

function meets(expression: NonNullable<LabelSelector['matchExpressions']>[number], labels: Labels): boolean {
  const { key, operator, values = [] } = expression
  const value = labels[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}
