import type { FastifyRequest } from 'fastify'
import { forbidden, notFound, unauthorized } from './errors.ts'
import type { Assignment, Device, Project, Reservation, Session, State } from './state.ts'

export type Token = {
  token: string
  /** What the log of calls says in its place. */
  label?: string
  /** The ids of the projects that it may use. */
  projects: string[]
  readOnly?: boolean
}

/** Finds what a call is about: 404 where it does not exist, 403 where the token may not do this to it. */
export type Finders = {
  project(request: FastifyRequest): Project
  device(request: FastifyRequest): Device
  address(request: FastifyRequest): Reservation | Assignment
  session(request: FastifyRequest): Session
}

const tokenOf = (request: FastifyRequest) => {
  const header = request.headers['x-auth-token']
  return typeof header === 'string' && header !== '' ? header : undefined
}

/** The rights of the tokens. */
export function makeAccess(tokens: Token[]) {
  const known = new Map(tokens.map((one, n) => [one.token, { ...one, label: one.label ?? `token-${n + 1}` }]))
  const find = (request: FastifyRequest) => known.get(tokenOf(request) ?? '')
  return {
    /** The label of a request's token. */
    caller: (request: FastifyRequest) => find(request)?.label ?? (tokenOf(request) ? 'unknown' : 'none'),
    authenticate(request: FastifyRequest): Token {
      const token = find(request)
      if (!token) throw unauthorized()
      return token
    },
  }
}

export type Access = ReturnType<typeof makeAccess>

/** The finders of one account. */
export function makeFinders(state: State, access: Access): Finders {
  const allow = (request: FastifyRequest, project: Project) => {
    const { projects, readOnly } = access.authenticate(request)
    if (!projects.includes(project.id)) throw state.behaviour.foreignProject === '403' ? forbidden() : notFound()
    if (readOnly && request.method !== 'GET') throw forbidden()
  }
  const finder =
    <T>(known: (id: string) => T | undefined, projectOf: (found: T) => Project) =>
    (request: FastifyRequest): T => {
      const { id } = request.params as { id: string }
      const found = known(id)
      if (found === undefined) throw notFound()
      allow(request, projectOf(found))
      return found
    }
  return {
    project: finder(
      (id) => state.projects.get(id),
      (project) => project,
    ),
    device: finder(
      (id) => state.devices.get(id),
      ({ project }) => project,
    ),
    address: finder<Reservation | Assignment>(
      (id) => state.reservations.get(id) ?? state.assignments.get(id),
      (found) => (isAssignment(found) ? found.reservation.project : found.project),
    ),
    session: finder(
      (id) => state.sessions.get(id),
      ({ device }) => device.project,
    ),
  }
}

/** Reservations and assignments share their ids and `/ips/{id}`. */
export function isAssignment(found: Reservation | Assignment): found is Assignment {
  return 'reservation' in found
}
