/** One condition of a label selector, in the words of a selector's `matchExpressions`. */
export type LabelRequirement = {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  values: string[]
}

type Labels = Record<string, string>

/** Whether an object with these labels, or with none, meets every one of the requirements. */
export function matches(labels: Labels | undefined, requirements: readonly LabelRequirement[]): boolean {
  return requirements.every((requirement) => meets(labels ?? {}, requirement))
}

function meets(labels: Labels, { key, operator, values }: LabelRequirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'In':
      return value !== undefined && values.includes(value)
    // An object without the label has none of the values.
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Gt':
    case 'Lt':
      return compares(operator, integer(value), integer(values[0]))
  }
}

/** What is no number is neither more nor less than one. */
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
