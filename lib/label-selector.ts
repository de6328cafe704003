/** A condition of a label selector, in the terms of `matchExpressions`. */
export type LabelRequirement = {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  values: string[]
}

export type LabelSelector = {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

export type Labels = Record<string, string>

/** Whether labels match another object's label selector. An operator that Kubernetes refuses there matches nothing. */
export function matchesSelector(
  labels: Labels | undefined,
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
): boolean {
  const requirements = matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values }))
  return (
    Object.entries(matchLabels).every(([key, value]) => valueOf(labels, key) === value) &&
    requirements.every(hasSetOperator) &&
    matchesRequirements(labels, requirements.filter(hasSetOperator))
  )
}

/** Whether the labels of an object satisfy every requirement. */
export function matchesRequirements(labels: Labels | undefined, requirements: readonly LabelRequirement[]): boolean {
  return requirements.every((requirement) => meets(valueOf(labels, requirement.key), requirement))
}

/** `Gt` and `Lt` exist only in node affinity and in selectors written as text. */
function hasSetOperator<T extends { operator: string }>(
  requirement: T,
): requirement is T & { operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' } {
  return ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(requirement.operator)
}

function valueOf(labels: Labels = {}, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}

function meets(value: string | undefined, { operator, values }: LabelRequirement): boolean {
  switch (operator) {
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'In':
      return value !== undefined && values.includes(value)
    // An object without the label counts as not having any of the values.
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Gt':
    case 'Lt':
      return compares(operator, integer(value), integer(values[0]))
  }
}

/** A text that is not a number is neither greater nor less than one. */
function compares(operator: 'Gt' | 'Lt', value: bigint | undefined, limit: bigint | undefined): boolean {
  if (value === undefined || limit === undefined) return false
  return operator === 'Gt' ? value > limit : value < limit
}

/** Kubernetes compares 64-bit integers, which a number cannot hold. */
function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}
