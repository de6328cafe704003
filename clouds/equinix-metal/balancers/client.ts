import type { Balancer, BalancerPort, Balancers, ListedBalancer, Origin } from '../../ports/balancers.ts'
import type { Fault } from '../../ports/cloud.ts'
import { vendorErrors } from '../../ports/vendor-errors.ts'
import { type ClientOptions, type VendorHttp, vendorHttp } from '../../http/client.ts'
import type { Refusal } from '../../http/faults.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../http/loose-json.ts'
import type { VendorCall } from '../../http/request.ts'
import { tokenCredentials } from '../../http/token.ts'
import { wholeList } from '../project.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { balancerMetros, locationCode, locationId } from './locations.ts'

type Project = { http: VendorHttp; id: string }

const vendor = 'Equinix Metal Load Balancer'

const { refusal, requireSameId, unreadableError } = vendorErrors(vendor)

const root = ['v1', 'loadbalancers']

/** The only provider of load balancers. Clients of 2023 had to name it. */
const provider = 'loadpvd-gOB_-byp5ebFo7A3LHv2B'

type EquinixMetalBalancersOptions = ClientOptions & {
  projectId: string
  /** Where the API key is exchanged for tokens. */
  tokensUrl: string
  /** A monotonic clock in milliseconds. */
  now?: () => number
}

/** The managed load balancers of one Equinix Metal project. */
export function equinixMetalBalancers(options: EquinixMetalBalancersOptions): Balancers {
  const { apiKey, projectId, baseUrl, tokensUrl, now, ...tuning } = options
  const auth = `check that the API key is valid and may read and write in project ${projectId}`
  const common = { ...tuning, vendor, errorText }
  const tokens = vendorHttp({
    ...common,
    baseUrl: tokensUrl,
    headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
    hints: { auth },
  })
  const call: VendorCall = { name: 'exchange-token', method: 'POST', path: ['api-keys', 'exchange'] }
  const http = vendorHttp({
    ...common,
    ...tokenCredentials({ vendor, http: tokens, call, basis: () => apiKey.reveal(), now }),
    baseUrl,
    fault: faultOf,
    hints: { auth, quota: 'delete load balancers that are not used, or have the limit of the project raised' },
  })
  const project = { http, id: projectId }
  return {
    name: vendor,
    locations: balancerMetros,
    ...balancerCalls(project),
    ...portCalls(project),
    ...poolCalls(project),
  }
}

/** The documentation promises `errors` without their type: texts, or objects with a message. */
function errorText(body: unknown): string | undefined {
  const { errors, error, message } = fieldsOf(body)
  const texts = itemsOf(errors)?.flatMap((one) => textOf(one) ?? textOf(fieldsOf(one).message) ?? [])
  return texts && texts.length > 0 ? texts.join('; ') : (textOf(error) ?? textOf(message))
}

/** The status of a refusal is not documented, but the text of the limit is. */
function faultOf({ status, text = '' }: Refusal): Fault | undefined {
  if (status < 400 || status >= 500) return undefined
  return /limit reached|quota/i.test(text) ? 'quota' : undefined
}

function balancerCalls({ http, id: project }: Project) {
  const path = ['v1', 'projects', project, 'loadbalancers']
  return {
    list: async (signal) =>
      await listOf(http, { name: 'balancers', path, field: 'loadbalancers', parse: parseNamed }, signal),
    async get(id, signal) {
      const { status, body } = await http.call(
        { name: 'balancer', method: 'GET', path: [...root, id], accept: [404] },
        signal,
      )
      return status === 404 ? undefined : requireSameId(parseBalancer(body), id, 'balancer')
    },
    async create({ name, location }, signal) {
      const body = { name, location_id: requireLocation(location), provider_id: provider }
      return await created(http, { name: 'create-balancer', path, body }, signal)
    },
    remove: (id, signal) => remove(http, { name: 'delete-balancer', path: [...root, id] }, signal),
  } satisfies Partial<Balancers>
}

function portCalls({ http }: Project) {
  return {
    addPort(balancer, { name, number, pool }, signal) {
      const path = [...root, balancer, 'ports']
      return created(http, { name: 'create-balancer-port', path, body: { name, number, pool_ids: [pool] } }, signal)
    },
    removePort: (id, signal) => remove(http, { name: 'delete-balancer-port', path: [...root, 'ports', id] }, signal),
  } satisfies Partial<Balancers>
}

function poolCalls({ http, id: project }: Project) {
  const ofProject = ['v1', 'projects', project, 'loadbalancers', 'pools']
  const pools = [...root, 'pools']
  return {
    pools: (signal) => listOf(http, { name: 'pools', path: ofProject, field: 'pools', parse: parseNamed }, signal),
    addPool: (name, signal) =>
      created(http, { name: 'create-pool', path: ofProject, body: { name, protocol: 'tcp' } }, signal),
    removePool: (id, signal) => remove(http, { name: 'delete-pool', path: [...pools, id] }, signal),
    async origins(pool, signal) {
      const path = [...pools, pool, 'origins']
      return await listIfAny(http, { name: 'origins', path, field: 'origins', parse: parseOrigin }, signal)
    },
    async addOrigin(pool, { name, address, port }, signal) {
      const body = { name, target: address, port_number: port, active: true, pool_id: pool }
      await created(http, { name: 'create-origin', path: [...pools, pool, 'origins'], body }, signal)
    },
    removeOrigin: (id, signal) => remove(http, { name: 'delete-origin', path: [...pools, 'origins', id] }, signal),
  } satisfies Partial<Balancers>
}

type List<Item> = Pick<VendorCall, 'name' | 'path'> & {
  field: string
  parse: (item: unknown) => Item | undefined
}

/** An item that we missed or could not read would be created again, so either fails the list. */
async function listOf<Item>(http: VendorHttp, { parse, ...list }: List<Item>, signal: AbortSignal): Promise<Item[]> {
  const items = await wholeList(http, { ...list, vendor }, signal)
  return items.map((item) => {
    const parsed = parse(item)
    if (parsed === undefined) throw unreadableError(list.name, `one of ${list.field} without an id`)
    return parsed
  })
}

/** The error for a list that does not exist, because its owner is deleted. */
class NoListError extends Error {}

/** The list of an owner that may be deleted; undefined if it is. */
async function listIfAny<Item>(http: VendorHttp, list: List<Item>, signal: AbortSignal): Promise<Item[] | undefined> {
  const existing: VendorHttp = {
    async call(call, aborted) {
      const answer = await http.call({ ...call, accept: [404] }, aborted)
      if (answer.status === 404) throw new NoListError()
      return answer
    },
  }
  try {
    return await listOf(existing, list, signal)
  } catch (error) {
    if (error instanceof NoListError) return undefined
    throw error
  }
}

async function created(
  http: VendorHttp,
  call: Pick<VendorCall, 'name' | 'path' | 'body'>,
  signal: AbortSignal,
): Promise<string> {
  const { body } = await http.call({ ...call, method: 'POST' }, signal)
  const id = textOf(fieldsOf(body).id)
  if (id === undefined) throw unreadableError(call.name, 'no id', 'unknown')
  return id
}

async function remove(http: VendorHttp, call: Pick<VendorCall, 'name' | 'path'>, signal: AbortSignal): Promise<void> {
  await http.call({ ...call, method: 'DELETE', accept: [404] }, signal)
}

function requireLocation(location: string): string {
  const id = locationId(location)
  if (id !== undefined) return id
  const known = balancerMetros.map(({ code }) => code).join(', ')
  throw refusal(`"${location}" is not one of its metros: ${known}`, 'invalid')
}

/** A named object in a response, balancer or pool; undefined if it has no id. */
function parseNamed(body: unknown): ListedBalancer | undefined {
  const { id, name, created_at } = fieldsOf(body)
  const known = textOf(id)
  return known === undefined ? undefined : { id: known, name: textOf(name) ?? '', createdAt: textOf(created_at) }
}

/** The balancer in a response; undefined if it has no id. */
function parseBalancer(body: unknown): Balancer | undefined {
  const named = parseNamed(body)
  if (!named) return undefined
  const { ips, location } = fieldsOf(body)
  const addresses = (itemsOf(ips) ?? []).flatMap((ip) => canonicalIpAddress(textOf(ip) ?? '') ?? [])
  return {
    ...named,
    location: locationCode(textOf(fieldsOf(location).id) ?? ''),
    addresses: [...new Set(addresses)].toSorted(),
    ports: parsePorts(fieldsOf(body)),
  }
}

/** The API returns the pools of all ports as a list of lists: the first list belongs to the first port. */
function parsePorts({ ports, pools }: Fields): BalancerPort[] {
  const listed = itemsOf(pools) ?? []
  return (itemsOf(ports) ?? []).map(fieldsOf).flatMap((port, n) => {
    const [id, number] = [textOf(port.id), countOf(port.number)]
    if (id === undefined || number === undefined) return []
    const attached = (itemsOf(listed[n]) ?? []).flatMap((pool) => textOf(fieldsOf(pool).id) ?? [])
    return { id, number, pools: [...new Set([...attached, ...textsOf(port.pool_ids)])] }
  })
}

/** The origin in a response; undefined if it has no id. */
function parseOrigin(body: unknown): Origin | undefined {
  const { id, target, port_number } = fieldsOf(body)
  const known = textOf(id)
  if (known === undefined) return undefined
  const address = textOf(target) ?? ''
  return { id: known, address: canonicalIpAddress(address) ?? address, port: countOf(port_number) ?? 0 }
}
