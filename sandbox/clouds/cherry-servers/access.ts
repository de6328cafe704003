import type { FastifyRequest } from 'fastify'
import { type Token, bearerIn, makeTokens } from '../tokens.ts'
import { forbidden, notFound, unauthorized } from './errors.ts'
import type { Ip, Project, Server, State } from './state.ts'

/** Finds the object of a request. Throws 404 if it does not exist, 403 if the token has no right to this call. */
export type Finders = {
  project(request: FastifyRequest): Project
  server(request: FastifyRequest): Server
  ip(request: FastifyRequest): Ip
}

/** Makes the access control for the given tokens. */
export function makeAccess(tokens: Token<number>[]) {
  const { find, caller, control } = makeTokens(tokens, bearerIn)
  return {
    caller,
    control,
    authenticate(request: FastifyRequest): Token<number> {
      const token = find(request)
      if (!token) throw unauthorized()
      if (token.readOnly && request.method !== 'GET') throw forbidden()
      return token
    },
  }
}

export type Access = ReturnType<typeof makeAccess>

/** Makes the finders for the objects of a team. */
export function makeFinders(state: State, access: Access): Finders {
  const allowed = <T>(request: FastifyRequest, { found, project }: { found: T; project: Project }): T => {
    if (access.authenticate(request).projects.includes(project.id)) return found
    throw state.behaviour.foreignProject === '403' ? forbidden() : notFound()
  }
  return {
    project(request) {
      const project = state.projects.get(Number(idIn(request)))
      if (!project) throw notFound()
      return allowed(request, { found: project, project })
    },
    server(request) {
      const server = state.servers.get(Number(idIn(request)))
      if (!server) throw notFound()
      return allowed(request, { found: server, project: server.project })
    },
    ip(request) {
      const ip = state.ips.get(idIn(request))
      if (ip) return allowed(request, { found: ip, project: ip.project })
      throw state.gone.has(idIn(request)) && state.behaviour.goneAddress === '403' ? forbidden() : notFound()
    },
  }
}

function idIn(request: FastifyRequest): string {
  return (request.params as { id: string }).id
}
