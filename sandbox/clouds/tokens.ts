import type { FastifyRequest } from 'fastify'
import { command } from './command.ts'
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

export type TokenControl = ReturnType<typeof tokenControl>

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
    control: tokenControl(known, tokens[0]?.projects ?? []),
  }
}

/** The controls of the tokens, as a person has them in the vendor's console. */
function tokenControl<ProjectId>(known: Map<string, Token<ProjectId>>, projects: ProjectId[]) {
  return {
    add: command(
      {
        route: 'POST /tokens',
        help: 'Adds a token with the rights of the first one.',
        example: '{"token":"0123456789abcdef","label":"new"}',
        fields: { token: { type: 'string', minLength: 1 }, label: { type: 'string', minLength: 1 } },
      },
      ({ token, label }: { token: string; label: string }) =>
        void known.set(token, { projects: [...projects], token, label }),
    ),
    revoke: command({ route: 'DELETE /tokens/:id', help: 'Revokes the token with this label.' }, (label: string) => {
      const found = known.values().find((one) => one.label === label)
      if (!found) throw new ControlError(`no token has the label "${label}"`, 404)
      known.delete(found.token)
    }),
  }
}

/** Returns the token of a request with the header `Authorization: Bearer`. */
export function bearerIn({ headers }: FastifyRequest): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Returns the token of a request with the header `X-Auth-Token`. */
export function authTokenIn({ headers }: FastifyRequest): string | undefined {
  const token = headers['x-auth-token']
  return typeof token === 'string' && token !== '' ? token : undefined
}
