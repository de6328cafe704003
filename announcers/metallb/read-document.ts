import { listOf, readYaml } from './yaml-lists.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'

export type DocumentPool = { name: string; protocol: string; addresses: string[] }

/** The configuration that MetalLB before 0.13 reads in its ConfigMap. It contains no password. */
export type MetallbDocument = {
  pools: DocumentPool[]
  peers: number
  /** Why MetalLB refuses the whole document. */
  problems: string[]
}

/** The known keys: MetalLB refuses a document with any other. */
const keys = {
  'the document': ['peers', 'address-pools', 'bgp-communities', 'bfd-profiles', 'peer-autodiscovery'],
  pool: ['name', 'protocol', 'addresses', 'auto-assign', 'avoid-buggy-ips', 'bgp-advertisements'],
}

/** Reads MetalLB's ConfigMap as MetalLB does. */
export function readMetallbDocument({ data = {} }: ConfigMap): MetallbDocument {
  try {
    const yaml = readYaml(data['config'] ?? '')
    const items = listOf(yaml, 'address-pools').filter(isJsonObject)
    const pools = items.map(poolOf)
    const problems = [
      ...unknownKeys(yaml.value, 'the document', keys['the document']),
      ...items.flatMap((item, n) => unknownKeys(item, `pool ${pools[n]?.name}`, keys.pool)),
      ...sharedNames(pools),
      ...pools.flatMap(poolProblems),
    ]
    return { pools, peers: listOf(yaml, 'peers').length, problems }
  } catch (error) {
    return { pools: [], peers: 0, problems: [error instanceof Error ? error.message : 'it cannot be read'] }
  }
}

function poolOf({ name, protocol, addresses }: JsonObject): DocumentPool {
  const texts = Array.isArray(addresses) ? addresses.filter((one) => typeof one === 'string') : []
  return { name: stringOf(name), protocol: stringOf(protocol), addresses: texts }
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function unknownKeys(item: JsonObject, where: string, known: readonly string[]): string[] {
  return Object.keys(item)
    .filter((key) => !known.includes(key))
    .map((key) => `${where} has the key ${JSON.stringify(key)}, which MetalLB does not know`)
}

function sharedNames(pools: readonly DocumentPool[]): string[] {
  const names = pools.map(({ name }) => name)
  const shared = new Set(names.filter((name, at) => names.indexOf(name) !== at))
  return [...shared].map((name) => `two pools are named ${JSON.stringify(name)}`)
}

function poolProblems({ name, protocol, addresses }: DocumentPool): string[] {
  if (name === '') return ['a pool has no name']
  const wrong = addresses.filter((range) => !isRange(range)).map((range) => JSON.stringify(range))
  return [
    ...(['bgp', 'layer2'].includes(protocol) ? [] : [`pool ${name} has no protocol, which must be bgp or layer2`]),
    ...(addresses.length > 0 ? [] : [`pool ${name} has no addresses`]),
    ...wrong.map((range) => `pool ${name} has ${range}, where a network such as 192.0.2.1/32 or a range is right`),
  ]
}

/** Whether MetalLB accepts a text as a range of addresses: even a single one needs a prefix length. */
function isRange(text: string): boolean {
  const [first = '', second] = text.split(text.includes('-') ? '-' : '/').map((part) => part.trim())
  const address = parseIpAddress(first)
  if (address === undefined || second === undefined) return false
  if (text.includes('-')) return parseIpAddress(second)?.family === address.family
  return /^\d{1,3}$/.test(second) && Number(second) <= (address.family === 'ipv4' ? 32 : 128)
}
