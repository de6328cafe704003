import { isDeepStrictEqual } from 'node:util'
import { isIP } from 'node:net'
import { parse } from 'yaml'
import { badPools } from './metallb-rules.ts'

type Fields = Record<string, unknown>
type Kind = (value: unknown) => boolean

const isText: Kind = (value) => typeof value === 'string'
const isFlag: Kind = (value) => typeof value === 'boolean'
const isNumber: Kind = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32
const isAsn: Kind = (value) => isNumber(value) && value !== 0
const isAddress: Kind = (value) => typeof value === 'string' && isIP(value) > 0
const isAddressOrNone: Kind = (value) => value === '' || isAddress(value)
const isDuration: Kind = (value) => value === '' || /^(0|([3-9]|\d{2,})s|\d+m)$/.test(String(value))
const isListOf =
  (item: Kind): Kind =>
  (value) =>
    value === null || (Array.isArray(value) && value.every(item))
const isMapOf =
  (item: Kind): Kind =>
  (value) =>
    isFields(value) && Object.values(value).every(item)

/** Whether a map has the known keys alone, each with a value of its kind, and those that it needs. */
const isRecord =
  (known: Record<string, Kind>, needed: string[] = []): Kind =>
  (value) =>
    isFields(value) &&
    Object.entries(value).every(([key, one]) => known[key]?.(one) ?? false) &&
    needed.every((key) => key in value)

const isSelector = isRecord({
  'match-labels': isMapOf(isText),
  'match-expressions': isListOf(isRecord({ key: isText, operator: isText, values: isListOf(isText) })),
})
const isPeer = isRecord(
  {
    'my-asn': isAsn,
    'peer-asn': isAsn,
    'peer-address': isAddress,
    'source-address': isAddressOrNone,
    'peer-port': isNumber,
    'hold-time': isDuration,
    'router-id': isAddress,
    'node-selectors': isListOf(isSelector),
    password: isText,
  },
  ['my-asn', 'peer-asn', 'peer-address'],
)
const isPool = isRecord(
  {
    name: isText,
    protocol: (value) => value === 'bgp' || value === 'layer2',
    addresses: isListOf(isText),
    'auto-assign': isFlag,
    'avoid-buggy-ips': isFlag,
    'bgp-advertisements': isListOf(
      isRecord({ 'aggregation-length': isNumber, localpref: isNumber, communities: isListOf(isText) }),
    ),
  },
  ['name', 'protocol', 'addresses'],
)
const isDocument = isRecord({
  peers: isListOf(isPeer),
  'address-pools': isListOf(isPool),
  'bgp-communities': isMapOf(isText),
})

/** Everything that MetalLB 0.11, of which no later version is stricter, has against its document. */
export function objectionsTo(document: string): string[] {
  const says: unknown = parse(document, { version: '1.1', merge: true }) ?? {}
  if (!isDocument(says)) return ['an unknown key, or a value of another kind']
  const { peers, 'address-pools': pools } = says as { peers?: Fields[] | null; 'address-pools'?: Fields[] | null }
  const named = (pools ?? []).map(({ name, addresses }) => ({ name: String(name), addresses: addresses as string[] }))
  const names = named.map(({ name }) => name)
  return [
    ...badPools(named),
    ...names.filter((name, at) => names.indexOf(name) < at).map((name) => `two pools ${name}`),
    ...(peers ?? [])
      .filter((peer, at) => (peers ?? []).slice(0, at).some((other) => isDeepStrictEqual(peer, other)))
      .map(() => 'two peers alike'),
  ]
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
