import type { AccountControl } from '../../sandbox/clouds/control.ts'
import type { Answer, Json } from './call-api.ts'
import { otherProject as otherCherryProject, project as cherryProject, withCherry } from './cherry-fixture.ts'
import { otherProject as otherMetalProject, project as metalProject, withMetal } from './metal-fixture.ts'

/** A simulated cloud before which all tests of the contract are the same. Only the test moves its clock. */
export type Simulator = {
  control: AccountControl
  controlUrl: string
  url: string
  clock: { now: number }
  close: () => Promise<void>
  call: (route: string, body?: unknown, token?: string) => Promise<Answer>
  /** Reserves an address, and returns its id. */
  reserve: () => Promise<string>
  isOn: (machine: string) => Promise<boolean>
}

/** The differences between the vendors where they keep the same rules. */
export type Vendor = {
  name: string
  program: 'cherry-servers' | 'equinix-metal'
  project: string
  otherProject: string
  /** The path of the addresses of the project, what is sent there, and what its list shows. */
  ips: string
  order: Json
  listed: (answer: Answer) => Json[]
  total: (answer: Answer) => number
  machines: string
  machine: string
  /** A path that every token may read. */
  catalogue: string
  header: (token: string) => Record<string, string>
  /** A program's argument for a machine, and one for a machine in a place that does not exist. */
  place: { is: string; isNot: string; says: RegExp }
  /** The body of a refusal, and of a fault that has a message. */
  words: Record<401 | 403 | 404 | 429 | 500, object>
  said: (status: number, message: string) => object
  /** The status of a request over the quota. */
  overQuota: number
  start: (run: (simulator: Simulator) => Promise<void>) => Promise<void>
  /** The same, with two calls in ten seconds. */
  startLimited: (run: (simulator: Simulator) => Promise<void>) => Promise<void>
}

const withCode = (code: number, message: string) => ({ code, message })
const cherryIps = `/projects/${cherryProject}/ips`

const cherry: Vendor = {
  name: 'Cherry Servers',
  program: 'cherry-servers',
  project: String(cherryProject),
  otherProject: String(otherCherryProject),
  ips: cherryIps,
  order: { region: 'LT-Siauliai' },
  listed: ({ list }) => list.filter(({ type }) => type === 'floating-ip'),
  total: ({ headers }) => Number(headers.get('x-total-count')),
  machines: `/projects/${cherryProject}/servers`,
  machine: '/servers',
  catalogue: '/regions',
  header: (token) => ({ authorization: `Bearer ${token}` }),
  place: { is: 'worker-1@NL-Amsterdam', isNot: 'worker-1@EU-Nord-1', says: /no region "EU-Nord-1"/ },
  words: {
    401: withCode(401, 'No valid API key provided.'),
    403: withCode(403, "You don't have permission to perform the request."),
    404: withCode(404, "The requested resource doesn't exist."),
    429: withCode(429, 'Too many requests.'),
    500: withCode(500, 'Something went wrong on our side.'),
  },
  said: withCode,
  overQuota: 400,
  start: (run) => withCherry({}, ({ cherry, ...fixture }) => run(ofCherry(cherry, fixture))),
  startLimited: (run) =>
    withCherry({}, ({ cherry, ...fixture }) => {
      cherry.control.setCallLimit({ calls: 2, perMs: 10_000 })
      return run(ofCherry(cherry, fixture))
    }),
}

type CherryFixture = Parameters<Parameters<typeof withCherry>[1]>[0]

function ofCherry(cherry: CherryFixture['cherry'], fixture: Omit<CherryFixture, 'cherry'>): Simulator {
  const { call, clock, order } = fixture
  return {
    ...cherry,
    clock,
    call,
    reserve: async () => String((await order())['id']),
    isOn: async (machine) => (await call(`GET /servers/${machine}?fields=power`)).body['power'] === 'on',
  }
}

const metalIps = `/projects/${metalProject}/ips`
const snap =
  "Oh snap, something went wrong! We've logged the error and will take a look - please reach out to us if you continue having trouble."
const errors = (...messages: string[]) => ({ errors: messages })

const metal: Vendor = {
  name: 'Equinix Metal',
  program: 'equinix-metal',
  project: metalProject,
  otherProject: otherMetalProject,
  ips: metalIps,
  order: { type: 'public_ipv4', quantity: 1, metro: 'da', fail_on_approval_required: true },
  listed: ({ body }) => (body['ip_addresses'] as Json[]).filter(({ type }) => type === 'public_ipv4'),
  total: ({ body }) => Number((body['meta'] as Json)['total']),
  machines: `/projects/${metalProject}/devices`,
  machine: '/devices',
  catalogue: '/locations/metros',
  header: (token) => ({ 'x-auth-token': token }),
  place: { is: 'worker-1@sv', isNot: 'worker-1@zz', says: /no metro "zz"/ },
  words: {
    401: { error: 'Invalid authentication token' },
    403: errors('Access denied for the current authentication token'),
    404: errors('Not found'),
    429: errors('Too many requests'),
    500: errors(snap),
  },
  said: (_status, message) => errors(message),
  overQuota: 422,
  start: (run) => withMetal({}, ({ metal, ...fixture }) => run(ofMetal(metal, fixture))),
  startLimited: (run) =>
    withMetal({ rateLimit: { calls: 2, perMs: 10_000 } }, ({ metal, ...fixture }) => run(ofMetal(metal, fixture))),
}

type MetalFixture = Parameters<Parameters<typeof withMetal>[1]>[0]

function ofMetal(metal: MetalFixture['metal'], fixture: Omit<MetalFixture, 'metal'>): Simulator {
  const { call, clock, reserve } = fixture
  return {
    ...metal,
    clock,
    call,
    reserve: async () => String((await reserve())['id']),
    isOn: async (machine) => (await call(`GET /devices/${machine}`)).body['state'] === 'active',
  }
}

export const vendors = [cherry, metal]
