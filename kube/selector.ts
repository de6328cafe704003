/** One requirement of a label selector, as in `matchExpressions`. */
export type LabelRequirement = {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  values: string[]
}

type Labels = Record<string, string>

/** Whether an object with these labels, or without labels, meets all requirements. */
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
    // An object without the label meets NotIn.
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Gt':
    case 'Lt':
      return compares(operator, integer(value), integer(values[0]))
  }
}

/** A value that is not an integer is neither greater nor less. */
function compares(operator: 'Gt' | 'Lt', value: bigint | undefined, limit: bigint | undefined): boolean {
  if (value === undefined || limit === undefined) return false
  return operator === 'Gt' ? value > limit : value < limit
}

/** Kubernetes compares 64-bit integers, which a JavaScript number cannot hold. */
function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}
