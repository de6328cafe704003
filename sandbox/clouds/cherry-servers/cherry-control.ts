import { ControlError, findById } from '../control-error.ts'
import type { AccountControl, CloudControl, Json } from '../control.ts'
import type { RateLimit } from '../rate-limit.ts'
import { assignLocalAsn, setServerBgp } from './bgp.ts'
import { changeIp, removeIp } from './ips.ts'
import { findPlan, plans } from './plans.ts'
import { findRegion, regions } from './regions.ts'
import { defaultFields } from './fields.ts'
import { renderIp, renderProject, renderServer } from './render.ts'
import { addServer, removeServer, setPower } from './servers.ts'
import { type Ip, type Server, type State, floatingIn, serverStates, serverStatuses } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type NewServer = {
  hostname: string
  project?: number | string
  /** The slug of a region. */
  region?: string
  plan?: string
  tags?: Record<string, string>
}

/** The state and the status that a server shows. */
export type ServerCondition = Partial<Pick<Server, 'state' | 'status'>>

/** How many calls one client may send; with `retryAfter` a 429 has that header. `undefined` is no limit. */
export type CallLimit = (RateLimit & { retryAfter?: boolean }) | undefined

/** The controls of a simulated Cherry Servers, in addition to those of every cloud. Its reservations are floating IPs. */
export type CherryServersControl = AccountControl & {
  devices: {
    /** Adds a server: a virtual one in Lithuania unless `plan` and `region` name others. */
    add(server: NewServer): Json
    setCondition(id: string, condition: ServerCondition): Json
  }
  projects: {
    all(): Json[]
    /** Assigns an ASN now to a project that waits for it. */
    assignAsn(id: string): void
  }
  bgp: {
    /** Disables BGP, as a tool does that edits a server or a project without knowing BGP. */
    turnOff(server: string): void
    turnOffProject(project: string): void
    /** Sets how many of the region's routers have a session with a server, and what each of them has learned. */
    setSession(server: string, shown: { connected?: number; routes?: string[] }): void
  }
  /** Sets how long lists do not show a new address. */
  setListing(listing: { afterMs: number }): void
  /** Sets how long a project waits for its ASN after BGP is enabled for a server. */
  setLocalAsn(delay: { afterMs: number }): void
  setCallLimit(limit: CallLimit): void
  unknowns(): UnknownBehaviour
  setUnknowns(given: Partial<UnknownBehaviour>): void
}

/** Makes the controls of one team. */
export function makeCherryControl(
  state: State,
  shared: CloudControl,
  parts: Pick<CherryServersControl, 'setCallLimit' | 'tokens'>,
): CherryServersControl {
  return {
    ...shared,
    ...parts,
    reservations: {
      all() {
        state.runDue()
        return [...state.projects.values()].flatMap((one) => floatingIn(state, one)).map((ip) => showIp(state, ip))
      },
      deleting() {
        state.runDue()
        return [...state.ips.values()].filter(({ isDeleting }) => isDeleting).map(({ id }) => id)
      },
      vanish: (id) => removeIp(state, findById(state.ips, id, 'floating IP')),
      assign(id, machine) {
        const target = machine === undefined ? 'none' : serverOf(state, machine)
        changeIp(findById(state.ips, id, 'floating IP'), { target })
      },
    },
    devices: deviceControl(state),
    projects: {
      all() {
        state.runDue()
        return [...state.projects.values()].map(renderProject)
      },
      assignAsn: (id) => assignLocalAsn(state, projectOf(state, id)),
    },
    bgp: bgpControl(state),
    setDeletion: (deletion) => void Object.assign(state.deletion, deletion),
    setListing: ({ afterMs }) => void (state.listedAfterMs = afterMs),
    setLocalAsn: ({ afterMs }) => void (state.localAsnMs = afterMs),
    unknowns: () => ({ ...state.behaviour }),
    setUnknowns: (given) => void (state.behaviour = chooseBehaviour({ ...state.behaviour, ...given })),
  }
}

// As the API shows them without the parameter `fields`.
const showIp = (state: State, ip: Ip) => defaultFields('ip', renderIp(state, ip)) as Json
const showServer = (state: State, server: Server) => defaultFields('server', renderServer(state, server)) as Json

const serverOf = (state: State, id: string) => findById(state.servers, Number(id), 'server')
const projectOf = (state: State, id: string) => findById(state.projects, Number(id), 'project')

function deviceControl(state: State): CherryServersControl['devices'] {
  const show = (id: string) => showServer(state, serverOf(state, id))
  const power = (id: string, to: 'on' | 'off') => {
    setPower(state, serverOf(state, id), to)
    return show(id)
  }
  return {
    all() {
      state.runDue()
      return [...state.servers.values()].map((server) => showServer(state, server))
    },
    add: (wanted) => showServer(state, addServer(state, readNewMachine(state, wanted))),
    setCondition(id, condition) {
      checkOneOf(serverStates, condition.state)
      checkOneOf(serverStatuses, condition.status)
      Object.assign(serverOf(state, id), condition)
      return show(id)
    },
    powerOff: (id) => power(id, 'off'),
    powerOn: (id) => power(id, 'on'),
    remove: (id) => removeServer(state, serverOf(state, id)),
  }
}

function readNewMachine(state: State, wanted: NewServer) {
  const { hostname, project, region = 'LT-Siauliai', plan = 'B1-4-4gb-80s-shared', tags = {} } = wanted
  const place = findRegion(region)
  if (!place)
    throw new ControlError(`no region "${region}": expected one of ${regions.map(({ slug }) => slug).join(', ')}`)
  const known = findPlan(plan)
  if (!known) throw new ControlError(`no plan "${plan}": expected one of ${plans.map(({ slug }) => slug).join(', ')}`)
  const [first] = state.projects.keys()
  return { hostname, tags, project: projectOf(state, String(project ?? first)), region: place, plan: known }
}

function bgpControl(state: State): CherryServersControl['bgp'] {
  return {
    turnOff: (id) => setServerBgp(state, serverOf(state, id), false),
    turnOffProject: (id) => void (projectOf(state, id).bgp.enabled = false),
    setSession(id, { connected, routes }) {
      const { bgp, region } = serverOf(state, id)
      if (!bgp.enabled) throw new ControlError(`BGP is off for server ${id}`)
      const { hosts } = region.bgp
      if (connected !== undefined && !(connected >= 0 && connected <= hosts.length))
        throw new ControlError(`connected ${connected}: ${region.slug} has ${hosts.length} routers`)
      if (connected !== undefined) bgp.connected = connected
      const sinceMs = state.now()
      if (routes) bgp.routes = hosts.flatMap((router) => routes.map((subnet) => ({ subnet, router, sinceMs })))
      bgp.updatedMs = sinceMs
    },
  }
}

function checkOneOf(words: readonly string[], word: string | undefined): void {
  if (word !== undefined && !words.includes(word))
    throw new ControlError(`"${word}": expected one of ${words.join(', ')}`)
}
