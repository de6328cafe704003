// What a test of the whole has to know of the dialect that its cluster speaks; all else is the same in every one.
import type { Json } from '../../sandbox/clouds/door.ts'
import { type Access, type DialectName, dialects } from '../../sandbox/dialects.ts'

/** An address that the project pays for, as its owner sees it. */
export type Reservation = { id: string; address: string | null; state: string; place: string; tags: string[] }

export type Dialect = {
  name: DialectName
  /** What messages call the cloud. */
  cloudName: string
  /** The variable that says who announces addresses. */
  loadBalancer: string
  /** Settings by which addresses come from one place unless a Service says otherwise. */
  here: Record<string, string>
  /** What records call that place. */
  place: string
  /** How a Service asks for another place; absent where none can. */
  elsewhere?: { annotation: string; place: string }
  /** What the annotations of nodes begin with. */
  prefix: string
  /** The scheme of providerIDs. */
  scheme: string
  /** The tag of what we reserve, and what stands between namespace and name before they are hashed for another. */
  usage: string
  separator: string
  /** The call by which a reservation gets other tags. */
  mark: string
  /** The calls by which places are read at a start. */
  places: string[]
  /** What the cloud says to who has no room left, and to a key that it does not know. */
  words: { quota: string; unauthorized: string }
  /** Orders an address past the product, as a person does it or a cluster before it; tags are `name=value` or a word. */
  order(access: Access, tags?: string[]): Promise<{ id: string; address: string }>
  reservation(shown: Json): Reservation
}

const metal = {
  cloudName: 'Equinix Metal',
  mark: 'PATCH /ips/{id}',
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

const table: Record<DialectName, Omit<Dialect, 'name'>> = {
  'equinix-metal': {
    ...metal,
    loadBalancer: 'METAL_LOAD_BALANCER',
    here: { METAL_METRO_NAME: 'da' },
    place: 'da',
    elsewhere: { annotation: 'metal.equinix.com/eip-metro', place: 'sv' },
    prefix: 'metal.equinix.com/',
    scheme: 'equinixmetal',
    usage: 'usage=cloud-provider-equinix-metal-auto',
    separator: '/',
    order: (access, tags = []) =>
      orderFrom(access, { 'x-auth-token': access.token }, { type: 'public_ipv4', quantity: 1, metro: 'da', tags }),
  },
  packet: {
    ...metal,
    loadBalancer: 'PACKET_LOAD_BALANCER',
    here: { PACKET_FACILITY_NAME: 'da11', PACKET_LOAD_BALANCER: 'empty://' },
    place: 'da11',
    prefix: 'packet.com/',
    scheme: 'packet',
    usage: 'usage=packet-ccm-auto',
    separator: '.',
    order: (access, tags = []) =>
      orderFrom(access, { 'x-auth-token': access.token }, { type: 'public_ipv4', quantity: 1, facility: 'da11', tags }),
  },
  'cherry-servers': {
    cloudName: 'Cherry Servers',
    loadBalancer: 'CHERRY_LOAD_BALANCER',
    here: { CHERRY_REGION_NAME: 'LT-Siauliai' },
    place: 'LT-Siauliai',
    elsewhere: { annotation: 'cherryservers.com/fip-region', place: 'NL-Amsterdam' },
    prefix: 'cherryservers.com/',
    scheme: 'cherryservers',
    usage: 'usage=cloud-provider-cherry-auto',
    separator: '/',
    mark: 'PUT /ips/{id}',
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
}

/** What a test has to know of a dialect. */
export function dialectOf(name: DialectName): Dialect {
  return { name, ...table[name] }
}

/** Every address of the project that somebody ordered, oldest first. */
export function reservationsIn(name: DialectName, door: { reservations: { all(): Json[] } }): Reservation[] {
  return door.reservations.all().filter(dialects[name].isOrdered).map(table[name].reservation)
}

async function orderFrom({ url, project }: Access, headers: Record<string, string>, order: object) {
  const answer = await fetch(`${url}/projects/${project}/ips`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(order),
  })
  if (!answer.ok) throw new Error(`the cloud answered ${answer.status}: ${await answer.text()}`)
  const { id, address } = (await answer.json()) as { id: string; address: string }
  return { id: String(id), address }
}

function nameAndValue(tag: string): [string, string] {
  const end = tag.indexOf('=')
  return end < 0 ? [tag, ''] : [tag.slice(0, end), tag.slice(end + 1)]
}

function fieldOf(object: unknown, field: string): string | undefined {
  if (typeof object !== 'object' || object === null) return undefined
  const value: unknown = Reflect.get(object, field)
  return value === undefined ? undefined : String(value)
}
