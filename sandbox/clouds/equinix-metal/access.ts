import type { FastifyRequest } from 'fastify'
import { type Token as CloudToken, authTokenIn, makeTokens } from '../tokens.ts'
import { forbidden, notFound, unauthorized } from './errors.ts'
import type { Assignment, Device, Project, Reservation, Session, SshKey, State } from './state.ts'

export type Token = CloudToken<string>

/** Finds the object of a request. Throws 404 if it does not exist, 403 if the token has no right to this call. */
export type Finders = {
  project(request: FastifyRequest): Project
  device(request: FastifyRequest): Device
  address(request: FastifyRequest): Reservation | Assignment
  session(request: FastifyRequest): Session
  sshKey(request: FastifyRequest): SshKey
}

/** Makes the access control for the given tokens. */
export function makeAccess(tokens: Token[]) {
  const { find, withText, caller, control } = makeTokens(tokens, authTokenIn)
  return {
    caller,
    control,
    withText,
    authenticate(request: FastifyRequest): Token {
      const token = find(request)
      if (!token) throw unauthorized()
      return token
    },
    /** Throws 403 if the token may only read. */
    checkWrite(request: FastifyRequest): Token {
      const token = this.authenticate(request)
      if (token.readOnly) throw forbidden()
      return token
    },
  }
}

export type Access = ReturnType<typeof makeAccess>

/** Makes the finders for the objects of an account. */
export function makeFinders(state: State, access: Access): Finders {
  const allow = (request: FastifyRequest, project: Project | undefined) => {
    const { projects, readOnly } = access.authenticate(request)
    if (project && !projects.includes(project.id))
      throw state.behaviour.foreignProject === '403' ? forbidden() : notFound()
    if (readOnly && request.method !== 'GET') throw forbidden()
  }
  const finder =
    <T>(known: (id: string) => T | undefined, projectOf: (found: T) => Project | undefined) =>
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
    sshKey: finder<SshKey>(
      (id) => state.sshKeys.get(id),
      (key) => key.project,
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

/** Tells an assignment from a reservation: both live at `/ips/{id}`. */
export function isAssignment(found: Reservation | Assignment): found is Assignment {
  return 'reservation' in found
}
