import { isIPv4 } from 'node:net'
import { firstHostOf } from '../../lib/ip-address.ts'
import type { Reservation, Marks } from '../ports/cloud.ts'
import { type Fields, fieldsOf, textOf, idOf } from '../http/loose-json.ts'
import { refusal } from './errors.ts'

/** The parts of a floating IP that we need. */
export type FloatingIp = {
  reservation: Reservation & { address: string }
  /** As the API returned them: a PUT replaces them all. */
  labels: Fields
  /** The vendor blocks abused addresses, which then get no traffic. */
  isBlocked: boolean
  /** The id of the server that gets its traffic. */
  server: string | undefined
  /** Its home location and that location's network zone. */
  home: string[]
}

/** The address in a response; undefined if it has none. A Service gets the first address of an IPv6 network, for good. */
export function parseFloatingIp(body: unknown): FloatingIp | undefined {
  const item = fieldsOf(body)
  const id = idOf(item.id)
  const text = textOf(item.ip) ?? ''
  const address = isIPv4(text) ? text : firstHostOf(text)
  if (id === undefined || address === undefined) return undefined
  const labels = fieldsOf(item.labels)
  const server = idOf(item.server)
  const location = fieldsOf(item.home_location)
  return {
    reservation: {
      id,
      address,
      state: 'reserved',
      location: textOf(location.name),
      marks: marksOf(labels),
      ...(server !== undefined && { holder: `server ${server}` }),
      createdAt: textOf(item.created),
    },
    labels,
    isBlocked: item.blocked === true,
    server,
    home: [location.name, location.network_zone].flatMap((place) => textOf(place) ?? []),
  }
}

/** Other programs and people label the same floating IPs. */
const prefix = 'eip-admission.dev/'

/** A value that the vendor accepts, and that does not look like an encoded one. Its rules are those of Kubernetes labels. */
const plain = /^(?!x-)([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/
const coded = /^x-([A-Za-z0-9_-]*)x$/
const maxLength = 63

/** The labels for these marks; a mark without a value has none. Throws a CloudError if one is too long for a label. */
export function labelsOf(marks: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(marks).map(([mark, value]) => [prefix + mark, value && labelValue(value)]))
}

/** The marks among the labels of a floating IP. */
export function marksOf(labels: Fields): Marks {
  const ours = Object.entries(labels).filter(([name]) => name.startsWith(prefix))
  return Object.fromEntries(ours.map(([name, value]) => [name.slice(prefix.length), markValue(textOf(value) ?? '')]))
}

/** A label cannot contain all characters of base64, in which a mark names its Service. */
function labelValue(value: string): string {
  const label = plain.test(value) ? value : `x-${Buffer.from(value).toString('base64url')}x`
  if (label.length <= maxLength) return label
  throw refusal(`"${value}" does not fit into a label of ${maxLength} characters`, 'invalid')
}

function markValue(label: string): string {
  const [, code] = coded.exec(label) ?? []
  return code === undefined ? label : Buffer.from(code, 'base64url').toString()
}
