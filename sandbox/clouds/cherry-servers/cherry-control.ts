import { command, count, milliseconds, text, texts } from '../command.ts'
import { ControlError, findById } from '../control-error.ts'
import { type CloudControl, type Json, accountControl } from '../control.ts'
import type { TokenControl } from '../tokens.ts'
import { assignLocalAsn, setServerBgp } from './bgp.ts'
import { changeIp, removeIp } from './ips.ts'
import { findPlan, plans } from './plans.ts'
import { findRegion, regions } from './regions.ts'
import { defaultFields } from './fields.ts'
import { renderIp, renderProject, renderServer } from './render.ts'
import { addServer, removeServer, setPower } from './servers.ts'
import { type Server, type State, serverStates, serverStatuses } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

export type NewServer = {
  hostname: string
  project?: number | string
  /** The slug of a region. */
  region?: string
  plan?: string
  tags?: Record<string, string>
}

/** Makes the controls of one team. Its reservations are floating IPs. */
export function makeCherryControl(state: State, shared: CloudControl, tokens: TokenControl) {
  const account = accountControl({
    state,
    choices: behaviourChoices,
    tokens,
    reservations: {
      all: state.ips,
      kind: 'floating IP',
      isOne: ({ type }) => type === 'floating-ip',
      // As the API shows it without the parameter `fields`.
      show: (ip) => defaultFields('ip', renderIp(state, ip)) as Json,
      remove: (ip) => removeIp(state, ip),
      assign: (ip, server) => changeIp(ip, { target: server ?? 'none' }),
    },
    devices: {
      all: state.servers,
      kind: 'server',
      show: (server) => showServer(state, server),
      add: (wanted: NewServer) => addServer(state, readNewServer(state, wanted)),
      power: (server, to) => setPower(state, server, to),
      remove: (server) => removeServer(state, server),
      fields: { region: text, plan: text, tags: { type: 'object', additionalProperties: text } },
      example: '{"hostname":"worker-1","region":"LT-Siauliai"}',
    },
  })
  return {
    ...shared,
    ...account,
    devices: { ...account.devices, setCondition: conditionControl(state) },
    projects: projectControl(state),
    bgp: bgpControl(state),
    ...timingControl(state),
  }
}

const showServer = (state: State, server: Server) => defaultFields('server', renderServer(state, server)) as Json
const serverOf = (state: State, id: string) => findById(state.servers, id, 'server')
const projectOf = (state: State, id: string) => findById(state.projects, id, 'project')

function conditionControl(state: State) {
  return command(
    {
      route: 'PUT /devices/:id/condition',
      help: 'Sets the state and the status that a server shows.',
      example: '{"state":"active","status":"deploying"}',
      optional: { state: { enum: [...serverStates] }, status: { enum: [...serverStatuses] } },
    },
    (id: string, condition: Partial<Pick<Server, 'state' | 'status'>>) =>
      showServer(state, Object.assign(serverOf(state, id), condition)),
  )
}

/** Reads a new server: a virtual one in Lithuania unless `plan` and `region` name others. */
function readNewServer(state: State, wanted: NewServer) {
  const { hostname, project, region = 'LT-Siauliai', plan = 'B1-4-4gb-80s-shared', tags = {} } = wanted
  const place = findRegion(region)
  if (!place)
    throw new ControlError(`no region "${region}": expected one of ${regions.map(({ slug }) => slug).join(', ')}`)
  const known = findPlan(plan)
  if (!known) throw new ControlError(`no plan "${plan}": expected one of ${plans.map(({ slug }) => slug).join(', ')}`)
  const [first] = state.projects.keys()
  return { hostname, tags, project: projectOf(state, String(project ?? first)), region: place, plan: known }
}

function projectControl(state: State) {
  return {
    all: command({ route: 'GET /projects', help: 'Lists the projects.' }, () => {
      state.runDue()
      return [...state.projects.values()].map(renderProject)
    }),
    /** Assigns an ASN now to a project that waits for it. */
    assignAsn: (id: string) => assignLocalAsn(state, projectOf(state, id)),
  }
}

type ShownSession = { connected?: number; routes?: string[] }

function bgpControl(state: State) {
  return {
    turnOff: command(
      {
        route: 'POST /devices/:id/bgp/off',
        help: 'Disables BGP for a server, as another tool does that edits it.',
      },
      (id: string) => setServerBgp(state, serverOf(state, id), false),
    ),
    turnOffProject: command(
      { route: 'POST /projects/:id/bgp/off', help: 'Disables BGP for a project.' },
      (id: string) => void (projectOf(state, id).bgp.enabled = false),
    ),
    setSession: command(
      {
        route: 'PUT /devices/:id/bgp/session',
        help: "Sets how many of the region's routers have a session with a server, and their learned routes.",
        example: '{"connected":2,"routes":["203.0.113.0/32"]}',
        optional: { connected: count, routes: texts },
      },
      (id: string, shown: ShownSession) => setSession(state, serverOf(state, id), shown),
    ),
  }
}

function setSession(state: State, { id, bgp, region }: Server, { connected, routes }: ShownSession): void {
  if (!bgp.enabled) throw new ControlError(`BGP is off for server ${id}`)
  const { hosts } = region.bgp
  if (connected !== undefined && connected > hosts.length)
    throw new ControlError(`connected ${connected}: ${region.slug} has ${hosts.length} routers`)
  if (connected !== undefined) bgp.connected = connected
  const sinceMs = state.now()
  if (routes) bgp.routes = hosts.flatMap((router) => routes.map((subnet) => ({ subnet, router, sinceMs })))
  bgp.updatedMs = sinceMs
}

const afterMs = { fields: { afterMs: milliseconds }, example: '{"afterMs":3000}' }

function timingControl(state: State) {
  return {
    setLocalAsn: command(
      {
        route: 'PUT /local-asn',
        help: 'Sets how long a project waits for its ASN after BGP is enabled for a server.',
        ...afterMs,
      },
      (delay: { afterMs: number }) => void (state.localAsnMs = delay.afterMs),
    ),
    setListing: command(
      { route: 'PUT /listing', help: 'Sets how long lists do not show a new address.', ...afterMs },
      (listing: { afterMs: number }) => void (state.listedAfterMs = listing.afterMs),
    ),
  }
}
