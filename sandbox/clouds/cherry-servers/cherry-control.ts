import { ControlError, found } from '../control-error.ts'
import type { AccountControl, CloudControl, Json } from '../control.ts'
import type { RateLimit } from '../rate-limit.ts'
import { setServerBgp } from './bgp.ts'
import { removeIp } from './ips.ts'
import { findPlan, plans } from './plans.ts'
import { findRegion, regions } from './regions.ts'
import { renderIp, renderProject, renderServer } from './render.ts'
import { addServer, removeServer, setPower } from './servers.ts'
import { type Server, type State, floatingIn, serverStates, serverStatuses } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type NewServer = {
  hostname: string
  project?: number | string
  /** A slug. */
  region?: string
  plan?: string
  tags?: Record<string, string>
}

/** The two words that a server shows of how it is. */
export type ServerCondition = Partial<Pick<Server, 'state' | 'status'>>

/** How many calls one client may send: `retryAfter` says so in a header too, `undefined` lets it send as many as it likes. */
export type CallLimit = (RateLimit & { retryAfter?: boolean }) | undefined

/** What a simulated Cherry Servers can be told, beside what every simulated cloud can. Its reservations are floating IPs. */
export type CherryServersControl = AccountControl & {
  devices: {
    /** A virtual server in Lithuania unless said otherwise. */
    add(server: NewServer): Json
    setCondition(id: string, condition: ServerCondition): Json
  }
  projects: { all(): Json[] }
  bgp: {
    /** As another tool does it that edits a server or a project and knows no BGP. */
    turnOff(server: string): void
    turnOffProject(project: string): void
    /** How many of the region's routers have a session with a server, and what each of them has learned. */
    setSession(server: string, shown: { connected?: number; routes?: string[] }): void
  }
  /** How long a new address is missing from lists, from now on. */
  setListing(listing: { afterMs: number }): void
  /** How long a project waits for its ASN once BGP is on for a server, from now on. */
  setLocalAsn(delay: { afterMs: number }): void
  setCallLimit(limit: CallLimit): void
  unknowns(): UnknownBehaviour
  setUnknowns(given: Partial<UnknownBehaviour>): void
}

/** Opens the door of one team. */
export function makeCherryControl(
  state: State,
  shared: CloudControl,
  setCallLimit: CherryServersControl['setCallLimit'],
): CherryServersControl {
  return {
    ...shared,
    reservations: {
      all() {
        state.runDue()
        return [...state.projects.values()].flatMap((one) => floatingIn(state, one)).map((ip) => renderIp(state, ip))
      },
      leaving() {
        state.runDue()
        return [...state.ips.values()].filter(({ leaving }) => leaving).map(({ id }) => id)
      },
      vanish: (id) => removeIp(state, found(state.ips, id, 'floating IP')),
    },
    devices: deviceControl(state),
    projects: {
      all() {
        state.runDue()
        return [...state.projects.values()].map(renderProject)
      },
    },
    bgp: bgpControl(state),
    setDeletion: (deletion) => void Object.assign(state.deletion, deletion),
    setListing: ({ afterMs }) => void (state.listedAfterMs = afterMs),
    setLocalAsn: ({ afterMs }) => void (state.localAsnMs = afterMs),
    setCallLimit,
    unknowns: () => ({ ...state.behaviour }),
    setUnknowns: (given) => void (state.behaviour = chooseBehaviour({ ...state.behaviour, ...given })),
  }
}

const serverOf = (state: State, id: string) => found(state.servers, Number(id), 'server')
const projectOf = (state: State, id: string) => found(state.projects, Number(id), 'project')

function deviceControl(state: State): CherryServersControl['devices'] {
  const show = (id: string) => renderServer(state, serverOf(state, id))
  const power = (id: string, to: 'on' | 'off') => {
    setPower(state, serverOf(state, id), to)
    return show(id)
  }
  return {
    all() {
      state.runDue()
      return [...state.servers.values()].map((server) => renderServer(state, server))
    },
    add: (wanted) => renderServer(state, addServer(state, readNewMachine(state, wanted))),
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
