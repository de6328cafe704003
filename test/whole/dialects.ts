// The differences between dialects, as far as tests of the whole product need them.
import { createHash } from 'node:crypto'
import { labelsOf, marksOf } from '../../clouds/hetzner/parse-floating-ip.ts'
import { marksOf as marksOfBlock, readTags } from '../../clouds/phoenixnap/tags.ts'
import { firstHostOf } from '../../lib/ip-address.ts'
import { marksOf as marksOfTags, withMarks } from '../../clouds/scaleway/tags.ts'
import { fieldsOf } from '../../clouds/http/loose-json.ts'
import type { Key } from '../../kube/objects.ts'
import type { AccountControl, Json } from '../../sandbox/clouds/control.ts'
import { type Access, type DialectName, dialects } from '../../sandbox/dialects.ts'
import { hasBgp } from '../../sandbox/dialect-names.ts'
import { type BgpFacts, bgpFacts } from './dialect-bgp.ts'
import { higherOf, orderBlock } from './phoenixnap-api.ts'
import { type Ordered, command, orderFrom, post } from './vendor-api.ts'

/** A reservation as the vendor's API shows it. */
export type Reservation = { id: string; address: string | null; state: string; place: string; tags: string[] }

export type Dialect = {
  name: DialectName
  /** The name of the cloud in messages. */
  cloudName: string
  /** The variable with the API key. */
  apiKey: string
  /** The variable that names the announcing software. */
  loadBalancer: string
  /** Settings with the location of Services that request none. */
  here: Record<string, string>
  /** The name of that location in records. */
  place: string
  /** The setting that names it, its field in the configuration file, and another location that it may name. */
  placeSetting: { name: string; field: string; other: string }
  /** The setting that names the tag of the control-plane address; absent if the cloud cannot move addresses. */
  tagSetting?: string
  /** A misspelt location, and the texts of the refusal. */
  misspelt: { place: string; expected: string[] }
  /** How a Service requests another location; absent if it cannot. */
  elsewhere?: { annotation: string; place: string }
  /** The Service in kube-system that mirrors the control plane. */
  controlPlaneService: string
  /** The prefix of our annotations on nodes. */
  prefix: string
  /** How the providerID of a machine begins. */
  scheme: string
  /** The tag of our reservations, and the separator of namespace and name in the hashed tag of a Service. */
  usage: string
  separator: string
  /** The predecessor did not mark reservations with their cluster. */
  adoptsUnmarked?: true
  /** The call that changes the tags of a reservation. */
  mark: string
  /** How many Services can be created at once if each should get its address before a time-out. */
  burst: number
  /** Makes the cloud grant addresses late, or at once again; absent if it always grants at once. */
  setGrants?: (controlUrl: string, grants: { mode: 'at-once' } | { mode: 'late'; afterMs: number }) => Promise<void>
  /** Allows the calls of this many machines, because the cloud limits each machine; absent without such a limit. */
  callFrom?: (controlUrl: string, machines: number) => Promise<void>
  /** The calls about reservations, and the writes of a move, in order; none if the cloud cannot move addresses. */
  routes: { reserve: string; list: string; release: string }
  moves: string[]
  /** The machines to which an address is assigned. */
  holdersOf(control: Pick<AccountControl, 'devices' | 'reservations'>, address: string): string[]
  /** The calls that read the locations at a start. */
  places: string[]
  /** The cloud's messages at the quota, and for an unknown key. */
  words: { quota: string; unauthorized: string }
  /** Orders an address without the product; tags are `name=value` or a word. */
  order(access: Access, tags?: string[]): Promise<Ordered>
  reservation(shown: Json): Reservation
  bgp: BgpFacts
}

/** The calls with the same routes at Equinix Metal and Cherry Servers. */
export const routes = {
  reserve: 'POST /projects/{id}/ips',
  list: 'GET /projects/{id}/ips',
  release: 'DELETE /ips/{id}',
} as const

/** Both clouds show addresses as part of machines. */
const common = {
  routes,
  holdersOf({ devices }: Pick<AccountControl, 'devices'>, address: string) {
    const machines = devices.all() as { id: string | number; ip_addresses: { address: string }[] }[]
    const holding = machines.filter(({ ip_addresses: own }) => own.some((one) => one.address === address))
    return holding.map(({ id }) => String(id))
  },
}

const metal = {
  ...common,
  moves: ['DELETE /ips/{id}', 'POST /devices/{id}/ips'],
  cloudName: 'Equinix Metal',
  mark: 'PATCH /ips/{id}',
  burst: 120,
  setGrants: (controlUrl: string, grants: object) => command(controlUrl, 'grants', grants),
  places: ['GET /locations/metros', 'GET /projects/*/facilities'],
  words: { quota: 'The request exceeds the quota of the project', unauthorized: 'Invalid authentication token' },
  reservation: ({ id, address, state, metro, facility, tags }: Json) => ({
    id: String(id),
    address: typeof address === 'string' ? address : null,
    state: String(state),
    place: fieldOf(facility, 'code') ?? fieldOf(metro, 'code') ?? '',
    tags: Array.isArray(tags) ? tags.map(String) : [],
  }),
}

const table: Record<DialectName, Omit<Dialect, 'name' | 'bgp'>> = {
  'equinix-metal': {
    ...metal,
    apiKey: 'METAL_API_KEY',
    loadBalancer: 'METAL_LOAD_BALANCER',
    here: { METAL_METRO_NAME: 'da' },
    place: 'da',
    placeSetting: { name: 'METAL_METRO_NAME', field: 'metro', other: 'sv' },
    tagSetting: 'METAL_EIP_TAG',
    misspelt: {
      place: 'dallas',
      expected: ['"dallas" is not a known metro; did you mean "da"?', 'Known: ', 'sv (Silicon Valley)'],
    },
    elsewhere: { annotation: 'metal.equinix.com/eip-metro', place: 'sv' },
    controlPlaneService: 'cloud-provider-equinix-metal-kubernetes-external',
    prefix: 'metal.equinix.com/',
    scheme: 'equinixmetal://',
    usage: 'usage=cloud-provider-equinix-metal-auto',
    separator: '/',
    order: (access, tags = []) =>
      orderFrom(access, { 'x-auth-token': access.token }, { type: 'public_ipv4', quantity: 1, metro: 'da', tags }),
  },
  packet: {
    ...metal,
    apiKey: 'PACKET_API_KEY',
    loadBalancer: 'PACKET_LOAD_BALANCER',
    here: { PACKET_FACILITY_NAME: 'da11', PACKET_LOAD_BALANCER: 'empty://' },
    place: 'da11',
    placeSetting: { name: 'PACKET_FACILITY_NAME', field: 'facility', other: 'sv15' },
    tagSetting: 'PACKET_EIP_TAG',
    misspelt: {
      place: 'dallas',
      expected: ['"dallas" is not a known facility; did you mean "da11"?', 'Known: ', 'sv15 (Silicon Valley 15)'],
    },
    controlPlaneService: 'packet-ccm-kubernetes-external',
    prefix: 'packet.com/',
    scheme: 'packet://',
    usage: 'usage=packet-ccm-auto',
    separator: '/',
    adoptsUnmarked: true,
    order: (access, tags = []) =>
      orderFrom(access, { 'x-auth-token': access.token }, { type: 'public_ipv4', quantity: 1, facility: 'da11', tags }),
  },
  'cherry-servers': {
    ...common,
    moves: ['PUT /ips/{id}'],
    cloudName: 'Cherry Servers',
    apiKey: 'CHERRY_API_KEY',
    loadBalancer: 'CHERRY_LOAD_BALANCER',
    here: { CHERRY_REGION_NAME: 'LT-Siauliai' },
    place: 'LT-Siauliai',
    placeSetting: { name: 'CHERRY_REGION_NAME', field: 'region', other: 'NL-Amsterdam' },
    tagSetting: 'CHERRY_FIP_TAG',
    misspelt: {
      place: 'Siauliai',
      expected: [
        '"Siauliai" is not a known region; did you mean "LT-Siauliai"?',
        'Known: ',
        'NL-Amsterdam (Amsterdam, NL)',
      ],
    },
    elsewhere: { annotation: 'cherryservers.com/fip-region', place: 'NL-Amsterdam' },
    controlPlaneService: 'cloud-provider-cherry-kubernetes-external',
    prefix: 'cherryservers.com/',
    scheme: 'cherryservers://',
    usage: 'usage=cloud-provider-cherry-auto',
    separator: '/',
    mark: 'PUT /ips/{id}',
    burst: 40,
    callFrom: (controlUrl, machines) => command(controlUrl, 'call-limit', { calls: 4 * machines, perMs: 1000 }),
    places: ['GET /regions'],
    words: { quota: 'The limit of floating IP addresses is reached', unauthorized: 'No valid API key provided' },
    order: (access, tags = []) =>
      orderFrom(
        access,
        { authorization: `Bearer ${access.token}` },
        { region: 'LT-Siauliai', tags: Object.fromEntries(tags.map(nameAndValue)) },
      ),
    reservation: ({ id, address, region, tags }) => ({
      id: String(id),
      address: typeof address === 'string' ? address : null,
      state: 'created',
      place: fieldOf(region, 'slug') ?? '',
      tags: Object.entries(tags ?? {}).map(([name, value]) => `${name}=${value}`),
    }),
  },
  hetzner: {
    cloudName: 'Hetzner Cloud',
    apiKey: 'HCLOUD_TOKEN',
    loadBalancer: 'HCLOUD_LOAD_BALANCER',
    here: { HCLOUD_LOCATION: 'fsn1' },
    place: 'fsn1',
    placeSetting: { name: 'HCLOUD_LOCATION', field: 'location', other: 'hel1' },
    tagSetting: 'HCLOUD_FIP_LABEL',
    misspelt: {
      place: 'fsn',
      expected: ['"fsn" is not a known location; did you mean "fsn1"?', 'Known: ', 'hel1 (Helsinki)'],
    },
    elsewhere: { annotation: 'eip-admission.dev/location', place: 'hel1' },
    controlPlaneService: 'eip-admission-kubernetes-external',
    prefix: 'eip-admission.dev/',
    scheme: 'hcloud://',
    usage: 'usage=eip-admission',
    separator: '/',
    mark: 'PUT /floating_ips/{id}',
    burst: 120,
    routes: { reserve: 'POST /floating_ips', list: 'GET /floating_ips', release: 'DELETE /floating_ips/{id}' },
    moves: ['POST /floating_ips/{id}/actions/assign'],
    holdersOf: ({ reservations }, address) =>
      reservations
        .all()
        .flatMap(({ ip, server }) => (addressIn(ip) === address && typeof server === 'number' ? String(server) : [])),
    places: ['GET /locations'],
    words: { quota: 'Floating IP limit exceeded', unauthorized: 'unable to authenticate' },
    async order({ url, token }, tags = []) {
      const ours = ['usage', 'cluster', 'service', 'sign']
      const pairs = tags.map(nameAndValue)
      const marks = Object.fromEntries(pairs.filter(([name]) => ours.includes(name)))
      const labels = {
        ...Object.fromEntries(pairs.filter(([name]) => !ours.includes(name))),
        ...labelsOf(marks),
      }
      const headers = { authorization: `Bearer ${token}` }
      const body = { type: 'ipv4', home_location: 'fsn1', labels }
      const answer = await post(`${url}/floating_ips`, headers, body)
      const { floating_ip } = answer as { floating_ip: { id: number; ip: string } }
      return { id: String(floating_ip.id), address: floating_ip.ip }
    },
    reservation: ({ id, ip, home_location, labels }) => ({
      id: String(id),
      address: addressIn(ip),
      state: 'created',
      place: fieldOf(home_location, 'name') ?? '',
      tags: Object.entries(marksOf(fieldsOf(labels))).map(([name, value]) => `${name}=${value}`),
    }),
  },
  scaleway: {
    cloudName: 'Scaleway',
    apiKey: 'SCW_SECRET_KEY',
    loadBalancer: 'SCW_LOAD_BALANCER',
    here: { SCW_DEFAULT_ZONE: 'fr-par-1' },
    place: 'fr-par-1',
    placeSetting: { name: 'SCW_DEFAULT_ZONE', field: 'zone', other: 'nl-ams-1' },
    tagSetting: 'SCW_FIP_TAG',
    misspelt: {
      place: 'fr-par',
      expected: ['"fr-par" is not a known zone; did you mean "fr-par-1"?', 'Known: ', 'nl-ams-1 (Amsterdam 1)'],
    },
    controlPlaneService: 'eip-admission-kubernetes-external',
    prefix: 'eip-admission.dev/',
    scheme: 'scaleway://baremetal/fr-par-1/',
    usage: 'usage=eip-admission',
    separator: '/',
    mark: 'PATCH /flexible-ip/v1alpha1/zones/{zone}/fips/{id}',
    burst: 120,
    routes: {
      reserve: 'POST /flexible-ip/v1alpha1/zones/{zone}/fips',
      list: 'GET /flexible-ip/v1alpha1/zones/{zone}/fips',
      release: 'DELETE /flexible-ip/v1alpha1/zones/{zone}/fips/{id}',
    },
    moves: ['POST /flexible-ip/v1alpha1/zones/{zone}/fips/attach'],
    holdersOf: ({ reservations }, address) =>
      reservations
        .all()
        .flatMap(({ ip_address: ip, server_id: server }) =>
          addressIn(ip) === address && typeof server === 'string' ? server : [],
        ),
    places: [],
    words: { quota: 'quota(s) exceeded', unauthorized: 'authentication is denied' },
    async order({ url, project, token }, tags = []) {
      const ours = ['usage', 'cluster', 'service', 'sign']
      const pairs = tags.map(nameAndValue)
      const marks = Object.fromEntries(pairs.filter(([name]) => ours.includes(name)))
      const others = tags.filter((tag) => !ours.includes(nameAndValue(tag)[0]))
      const body = { project_id: project, tags: withMarks(others, marks) }
      const answer = await post(`${url}/flexible-ip/v1alpha1/zones/fr-par-1/fips`, { 'x-auth-token': token }, body)
      const { id, ip_address: address } = answer as { id: string; ip_address: string }
      return { id, address }
    },
    reservation: ({ id, ip_address: ip, zone, tags }) => ({
      id: String(id),
      address: addressIn(ip),
      state: 'created',
      place: String(zone),
      tags: Object.entries(marksOfTags(Array.isArray(tags) ? tags.map(String) : [])).map(
        ([name, value]) => `${name}=${value}`,
      ),
    }),
  },
  phoenixnap: {
    cloudName: 'phoenixNAP',
    apiKey: 'PNAP_CLIENT_SECRET',
    loadBalancer: 'PNAP_LOAD_BALANCER',
    here: { PNAP_LOCATION: 'PHX' },
    place: 'PHX',
    placeSetting: { name: 'PNAP_LOCATION', field: 'location', other: 'ASH' },
    misspelt: {
      place: 'PHOENIX',
      expected: ['"PHOENIX" is not a known location; did you mean "PHX"?', 'Known: ', 'ASH (Ashburn, USA)'],
    },
    controlPlaneService: 'eip-admission-kubernetes-external',
    prefix: 'phoenixnap.com/',
    scheme: 'phoenixnap://',
    usage: 'usage=eip-admission',
    separator: '/',
    mark: 'PUT /ips/v1/ip-blocks/{id}/tags',
    burst: 120,
    routes: {
      reserve: 'POST /ips/v1/ip-blocks',
      list: 'GET /ips/v1/ip-blocks',
      release: 'DELETE /ips/v1/ip-blocks/{id}',
    },
    moves: [],
    holdersOf({ devices }, address) {
      const machines = devices.all() as { id: string; publicIpAddresses: string[] }[]
      return machines.flatMap(({ id, publicIpAddresses: own }) => (own.includes(address) ? id : []))
    },
    places: ['GET /location-api/v1/locations'],
    words: {
      quota: 'The limit of IP Blocks of the account is exceeded',
      unauthorized:
        'The request failed due to invalid credentials. Please check the provided credentials and try again',
    },
    order: (access, tags = []) => orderBlock(access, tags.map(nameAndValue)),
    reservation: ({ id, cidr, location, tags }) => ({
      id: String(id),
      address: typeof cidr === 'string' ? higherOf(cidr) : null,
      state: 'created',
      place: String(location),
      tags: Object.entries(marksOfBlock(readTags(tags))).map(([name, value]) => `${name}=${value}`),
    }),
  },
}

/** The facts of a dialect. */
export function dialectOf(name: DialectName): Dialect {
  return {
    name,
    ...table[name],
    get bgp() {
      if (hasBgp(name)) return bgpFacts(name)
      throw new Error(`${name} has no BGP, so this test is not for it`)
    },
  }
}

/** The tag of a reservation that names its Service. */
export function serviceTag({ separator }: Dialect, key: Key): string {
  return `service=${createHash('sha256').update(key.replace('/', separator)).digest('base64')}`
}

/** Every ordered address of the project that is not deleted, oldest first. */
export function reservationsIn(
  name: DialectName,
  { reservations }: Pick<AccountControl, 'reservations'>,
): Reservation[] {
  const deleting = new Set(reservations.deleting())
  const ordered = reservations.all().filter(dialects[name].isOrdered).map(table[name].reservation)
  return ordered.filter(({ id }) => !deleting.has(id))
}

/** The address of a reservation: the first one of an IPv6 network. */
function addressIn(ip: unknown): string | null {
  if (typeof ip !== 'string') return null
  return ip.includes(':') ? (firstHostOf(ip) ?? null) : ip
}

function nameAndValue(tag: string): [string, string] {
  const end = tag.indexOf('=')
  return end < 0 ? [tag, ''] : [tag.slice(0, end), tag.slice(end + 1)]
}

function fieldOf(object: unknown, field: string): string | undefined {
  if (typeof object !== 'object' || object === null) return undefined
  const value: unknown = Reflect.get(object, field)
  return typeof value === 'string' ? value : undefined
}
