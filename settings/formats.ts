import { isIP, isIPv6 } from 'node:net'
import { Secret } from '../lib/secret.ts'
import { parseBaseUrl, type PlainHttp } from '../lib/base-url.ts'
import { durationPattern, formatDuration, parseDuration } from '../lib/duration.ts'
import { isNetwork } from '../lib/ip-address.ts'
import { isDnsLabel, isDnsName, isQualifiedName } from '../lib/names.ts'
import type { Format } from './setting.ts'
import { withoutClass } from './service-policy.ts'
import { oneOf } from '../lib/text.ts'

/** Any text. */
export function text(placeholder: string): Format<string> {
  return { placeholder, read: (given) => ({ value: given }) }
}

/** A pattern for a word that ignores case. */
export function anyCase(word: string): string {
  return word.replace(/[a-z]/gi, (one) => `[${one.toUpperCase()}${one.toLowerCase()}]`)
}

/** A numeric id, as text. Leading zeroes are dropped; a single 0 means "not set". */
export const numericId: Format<string> = {
  placeholder: 'id',
  unset: '0',
  read: (given) => {
    const id = given.replace(/^0+(?=\d)/, '')
    return /^[1-9]\d{0,14}$/.test(id) ? { value: id } : { right: 'a whole number, such as 218450' }
  },
}

/** A secret for an HTTP header, which a blank or a control character would break. */
export const token: Format<Secret> = {
  placeholder: 'token',
  secret: true,
  read: (given) =>
    /^[\x21-\x7e]+$/.test(given)
      ? { value: new Secret(given) }
      : { right: 'printable ASCII without blanks or line breaks' },
}

/** A secret of any characters. */
export const password: Format<Secret> = {
  placeholder: 'password',
  secret: true,
  read: (given) => ({ value: new Secret(given) }),
}

/** True or false, spelled as in Go's flags; a flag without a value means true. */
export const boolean: Format<boolean> = {
  placeholder: 'true|false',
  standsAlone: true,
  pattern: `^(1|0|[TtFf]|${anyCase('true')}|${anyCase('false')})$`,
  read: (given) => {
    if (/^(1|t|true)$/i.test(given)) return { value: true }
    if (/^(0|f|false)$/i.test(given)) return { value: false }
    return { right: 'true or false' }
  },
}

/** A whole number in a range, both ends included. */
export function number(from: number, to: number): Format<number> {
  return {
    placeholder: 'number',
    pattern: `^${wholeNumbers(from, to)}$`,
    range: { from, to },
    read: (given) => {
      const value = /^\d+$/.test(given) ? Number(given) : NaN
      return value >= from && value <= to ? { value } : { right: `a whole number from ${from} to ${to}` }
    },
  }
}

/** A maximum, or `none` for no limit. */
export function limit(to: number): Format<number | undefined> {
  const { read, range = { from: 0, to } } = number(0, to)
  return {
    placeholder: 'number|none',
    pattern: `^(${wholeNumbers(0, to)}|${anyCase('none')})$`,
    range,
    read: (given) => {
      if (given.toLowerCase() === 'none') return { value: undefined }
      const reading = read(given)
      return 'value' in reading ? reading : { right: `${reading.right}, or none` }
    },
  }
}

/** A TCP port to listen on. */
export const port: Format<number> = { ...number(1, 65_535), placeholder: 'port' }

/** A BGP autonomous system number; predecessors write 0 for "not set". */
export const asn: Format<number> = { ...number(1, 4_294_967_295), placeholder: 'asn', unset: '0' }

/** A Go duration, in milliseconds. */
export function duration(atLeastMs: number): Format<number> {
  return {
    placeholder: 'duration',
    pattern: durationPattern,
    read: (given) => {
      const value = parseDuration(given)
      if (value !== undefined && value >= atLeastMs) return { value }
      return { right: `a duration such as 30s, 5m or 1h30m, at least ${formatDuration(atLeastMs)}` }
    },
  }
}

/** A choice of several words, ignoring case. */
export function choice<const Word extends string>(words: readonly Word[]): Format<Word> {
  return {
    placeholder: words.join('|'),
    pattern: `^(${words.map(anyCase).join('|')})$`,
    read: (given) => {
      const value = words.find((word) => word.toLowerCase() === given.toLowerCase())
      return value === undefined ? { right: oneOf(words) } : { value }
    },
  }
}

/** A list separated by commas; empty items are dropped. */
export function list<T>(item: Format<T>): Format<T[]> {
  return {
    placeholder: `${item.placeholder},...`,
    repeats: true,
    read: (given) => {
      const parts = given.split(',').map((part) => part.trim())
      const readings = parts.filter((part) => part !== '').map((part) => item.read(part))
      const wrong = readings.find((reading) => 'right' in reading)
      if (wrong) return { right: `a list separated by commas, each item ${wrong.right}` }
      return { value: readings.flatMap((reading) => ('value' in reading ? [reading.value] : [])) }
    },
  }
}

/** A text that must pass a check; `right` describes what passes. */
function checked(placeholder: string, isRight: (text: string) => boolean, right: string): Format<string> {
  return { placeholder, read: (value) => (isRight(value) ? { value } : { right }) }
}

/** The name of a namespace. */
export const namespace = checked('namespace', isDnsLabel, 'the name of a namespace: lower-case letters, digits and -')

/** The name of a namespaced object. */
export const objectName = checked(
  'name',
  isDnsName,
  'the name of a Kubernetes object: lower-case letters, digits, - and .',
)

/** The name of an annotation, in which `{{n}}` stands for a peer's number. */
export const annotation = checked(
  'annotation',
  (text) => isQualifiedName(text.replace('{{n}}', '0')),
  'the name of an annotation, such as example.com/name',
)

/** A class of Services, as in `spec.loadBalancerClass`; `none` means Services without a class. */
export const loadBalancerClass: Format<string> = {
  placeholder: 'class',
  pattern: '^[A-Za-z0-9./_-]+$',
  read: (given) => {
    const right = `a load balancer class such as example.com/name, or ${withoutClass} for Services without one`
    // The control plane's own Service has such a class, so that no program serves it.
    if (given.startsWith('eip-admission.dev/')) return { right: `${right}, and none of eip-admission.dev` }
    return isQualifiedName(given) ? { value: given } : { right }
  },
}

/** The id of a cluster, which becomes part of tags at the provider. */
export const clusterId = checked(
  'id',
  (text) => /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text),
  'at most 63 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends',
)

/** An address to listen on. */
export const bindAddress = checked(
  'address',
  (text) => isIP(text) !== 0,
  'an IP address; :: means all addresses of the host, and 0.0.0.0 its IPv4 addresses',
)

/** A network in CIDR notation. */
export const network = checked('network', isNetwork, 'a network in CIDR notation, such as 192.0.2.0/24')

/** An absolute URL without credentials, query and fragment; plain http only if the caller allows it. */
export function url(http: PlainHttp): Format<string> {
  return {
    placeholder: 'url',
    quote: (given) => given.replace(/\/\/.*@/, '//[redacted]@').replace(/[?#].*/, '?[redacted]'),
    read: (given) => {
      const parsed = parseBaseUrl(given, http)
      return 'url' in parsed ? { value: parsed.url } : { right: urlRule[http] }
    },
  }
}

/** An https URL whose host may be an IPv6 address without brackets, as Kubernetes expands `$(HOST_IP)`. */
export const hostUrl: Format<string> = {
  ...url('never'),
  read: (given) => {
    const [, host = '', port] = /^https:\/\/([\da-f:.]+):(\d+)\/?$/i.exec(given) ?? []
    return url('never').read(isIPv6(host) ? `https://[${host}]:${port}` : given)
  },
}

const urlRule = {
  never: 'an https:// URL without credentials, query or fragment',
  loopback:
    'an https:// URL without credentials, query or fragment (http:// only to a loopback address such as 127.0.0.1)',
  anywhere: 'an https:// or http:// URL without credentials, query or fragment',
}

/** The whole numbers in a range, both ends included, as part of a regular expression. */
export function wholeNumbers(from: number, to: number): string {
  const lengths = range(String(from).length, String(to).length)
  const parts = lengths.map((length) => {
    const lowest = length === 1 ? 0 : 10 ** (length - 1)
    return ofOneLength(String(Math.max(from, lowest)), String(Math.min(to, 10 ** length - 1)))
  })
  return `0*(${parts.join('|')})`
}

/** The same for two numbers with the same number of digits. */
function ofOneLength(from: string, to: string): string {
  if (from.length === 1) return digits(from, to)
  const [a, low] = [from.charAt(0), from.slice(1)]
  const [b, high] = [to.charAt(0), to.slice(1)]
  if (a === b) return `${a}${ofOneLength(low, high)}`
  const [zeros, nines] = ['0'.repeat(low.length), '9'.repeat(low.length)]
  const first = Number(a) + (low === zeros ? 0 : 1)
  const last = Number(b) - (high === nines ? 0 : 1)
  const parts = [
    ...(low === zeros ? [] : [`${a}${ofOneLength(low, nines)}`]),
    ...(first <= last ? [`${digits(String(first), String(last))}${anyDigits(low.length)}`] : []),
    ...(high === nines ? [] : [`${b}${ofOneLength(zeros, high)}`]),
  ]
  return `(${parts.join('|')})`
}

function anyDigits(count: number): string {
  return count === 1 ? '[0-9]' : `[0-9]{${count}}`
}

function digits(from: string, to: string): string {
  return from === to ? from : `[${from}-${to}]`
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}
