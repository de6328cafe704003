import type { FastifyRequest } from 'fastify'
import { ControlError } from './control-error.ts'

export type Token<ProjectId> = {
  token: string
  /** The name that the call log shows instead of the token. */
  label?: string
  /** The ids of the projects that the token may use. */
  projects: ProjectId[]
  readOnly?: boolean
}

/** The tokens of a simulated cloud, found by the token text that a request carries. */
export type Tokens<ProjectId> = {
  /** Returns the token of a request; undefined when it has none or an unknown one. */
  find: (request: FastifyRequest) => Token<ProjectId> | undefined
  /** Returns the token with this text. */
  withText: (text: string) => Token<ProjectId> | undefined
  /** Returns the label of a request's token, never the token itself. */
  caller: (request: FastifyRequest) => string
  control: TokenControl
}

/** The controls of the tokens, as a person has them in the vendor's console. */
export type TokenControl = {
  /** Adds a token with the rights and the projects of the first one. */
  add(token: { token: string; label: string }): void
  /** Revokes the token with this label. */
  revoke(label: string): void
}

/** Makes the tokens; `readToken` reads the token text from a request as the vendor's clients send it. */
export function makeTokens<ProjectId>(
  tokens: Token<ProjectId>[],
  readToken: (request: FastifyRequest) => string | undefined,
): Tokens<ProjectId> {
  // Copies, because a project that a client creates is added to its token.
  const known = new Map(
    tokens.map((one, n) => [one.token, { ...one, projects: [...one.projects], label: one.label ?? `token-${n + 1}` }]),
  )
  const find = (request: FastifyRequest) => known.get(readToken(request) ?? '')
  return {
    find,
    withText: (text) => known.get(text),
    caller: (request) => find(request)?.label ?? (readToken(request) ? 'unknown' : 'none'),
    control: {
      add: ({ token, label }) => void known.set(token, { projects: [...(tokens[0]?.projects ?? [])], token, label }),
      revoke(label) {
        const found = known.values().find((one) => one.label === label)
        if (!found) throw new ControlError(`no token has the label "${label}"`, 404)
        known.delete(found.token)
      },
    },
  }
}
