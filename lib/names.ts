import { createHash } from 'node:crypto'

/** Whether Kubernetes accepts this as the name of a namespace. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}

/** Whether Kubernetes accepts this as the name of most objects. */
export function isDnsName(text: string): boolean {
  return text.length <= 253 && text.split('.').every(isDnsLabel)
}

/** Whether Kubernetes accepts this as the key of a label or an annotation. */
export function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').reverse()
  return (
    more.length === 0 &&
    (prefix === undefined || isDnsName(prefix)) &&
    /^[a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?$/i.test(name)
  )
}

/** Whether Kubernetes accepts this as the value of a label. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && /^[a-z0-9]([-._a-z0-9]*[a-z0-9])?$/i.test(text))
}

/** A hash of this many hexadecimal digits, for texts that are too long or not allowed in an object's name. */
export function hashForName(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}
