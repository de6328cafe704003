import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { bearerIn } from '../../tokens.ts'
import type { Token } from '../access.ts'
import { forbidden, notFound, unauthorized } from '../errors.ts'
import type { Project } from '../state.ts'
import type { BalancerState } from './state.ts'

type Session = { token: Token; endsAtMs: number }

/** The access to the load balancers: API keys are exchanged for tokens that expire. */
export type BalancerAccess = {
  /** Exchanges the API key of a request. */
  exchange(request: FastifyRequest): { access_token: string; token_type: 'Bearer'; expires_in: number }
  /** Throws 401 for a token that is unknown or has expired, and 403 if it may only read. */
  authenticate(request: FastifyRequest): Token
  /** Throws 404 for a project that the token may not use. */
  allow(request: FastifyRequest, project: Project | undefined): Project
  /** Returns the label of the API key behind a request; undefined if the request has no key or token of this service. */
  caller(request: FastifyRequest): string | undefined
  /** Revokes every token. */
  revoke(): void
}

/** Makes the access control; `keyOf` returns the API key with this text. */
export function makeBalancerAccess(state: BalancerState, keyOf: (text: string) => Token | undefined): BalancerAccess {
  const sessions = new Map<string, Session>()
  const authenticate = (request: FastifyRequest) => {
    const session = sessions.get(bearerIn(request) ?? '')
    if (!session || session.endsAtMs <= state.account.now()) throw unauthorized()
    if (session.token.readOnly && request.method !== 'GET') throw forbidden()
    return session.token
  }
  return {
    authenticate,
    exchange(request) {
      const token = keyOf(bearerIn(request) ?? '')
      if (!token) throw unauthorized()
      const { tokenMs } = state.settings
      const text = `eyJhbGciOiJSUzI1NiJ9.${randomBytes(24).toString('base64url')}.${randomBytes(24).toString('base64url')}`
      sessions.set(text, { token, endsAtMs: state.account.now() + tokenMs })
      return { access_token: text, token_type: 'Bearer', expires_in: Math.floor(tokenMs / 1000) }
    },
    allow(request, project) {
      if (!project || !authenticate(request).projects.includes(project.id)) throw notFound()
      return project
    },
    caller: (request) => (sessions.get(bearerIn(request) ?? '')?.token ?? keyOf(bearerIn(request) ?? ''))?.label,
    revoke: () => sessions.clear(),
  }
}
