import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { command, count } from '../command.ts'
import { type Token, type Tokens, makeTokens } from '../tokens.ts'
import { refused } from './errors.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

const scopes = ['bmc', 'bmc.read', 'tags', 'tags.read'] as const
type Scope = (typeof scopes)[number]

/** The token that a client gets for its secret: valid for a while, and for some scopes. */
type AccessToken = { secret: string; scopes: Scope[]; endsAtMs: number }

export type Access = ReturnType<typeof makeAccess>

export const tokenPath = '/auth/realms/BMC/protocol/openid-connect/token'

type AccessOptions = {
  tokens: Token<string>[]
  tokenSeconds: number
  behaviour: () => UnknownBehaviour
  now: () => number
}

const tokenLife = {
  route: 'PUT /token-life',
  help: 'Sets for how many seconds new access tokens are valid.',
  example: '{"seconds":2}',
  fields: { seconds: count },
  spreads: true,
} as const

/** Makes the access to accounts: a client id is the name of its account, and a token its secret. */
export function makeAccess(options: AccessOptions) {
  const { now } = options
  const granted = new Map<string, AccessToken>()
  let tokenSeconds = options.tokenSeconds
  const validIn = (request: FastifyRequest) => {
    const [, text = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const token = granted.get(text)
    return token && now() < token.endsAtMs ? token : undefined
  }
  const tokens = makeTokens(options.tokens, (request) => validIn(request)?.secret ?? basicIn(request)?.secret)
  return {
    tokens,
    control: {
      setTokenLife: command(tokenLife, (seconds: number) => void (tokenSeconds = seconds)),
      endTokens: command(
        { route: 'DELETE /access-tokens', help: 'Ends every access token before its time, as the vendor may.' },
        () => granted.clear(),
      ),
    },
    /** Throws if a request is not allowed: 401 for its token, 403 for its scopes. */
    check(request: FastifyRequest): void {
      const token = validIn(request)
      if (!token || !tokens.find(request)) throw refused(401)
      if (!neededFor(request).some((scope) => token.scopes.includes(scope))) throw refused(403)
    },
    accountOf: (request: FastifyRequest) => tokens.find(request)?.projects[0] ?? '',
    serveTokens(app: FastifyInstance): void {
      app.post(tokenPath, (request, reply) => {
        const answer = grant(request, { tokens, behaviour: options.behaviour(), reply })
        if (!('scopes' in answer)) return answer
        const text = randomBytes(24).toString('hex')
        granted.set(text, { ...answer, endsAtMs: now() + tokenSeconds * 1000 })
        const scope = answer.scopes.join(' ')
        return { access_token: text, expires_in: tokenSeconds, refresh_expires_in: 0, token_type: 'Bearer', scope }
      })
    },
  }
}

function grant(
  request: FastifyRequest,
  { tokens, behaviour, reply }: { tokens: Tokens<string>; behaviour: UnknownBehaviour; reply: FastifyReply },
): Omit<AccessToken, 'endsAtMs'> | object {
  const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
  const refuse = (status: number, error: string, error_description: string) => {
    reply.code(status)
    return { error, error_description }
  }
  if (form.get('grant_type') !== 'client_credentials')
    return refuse(400, 'unsupported_grant_type', 'Unsupported grant_type')
  const { id = '', secret = '' } = basicIn(request) ?? {}
  const client = tokens.withText(secret)
  if (!client?.projects.includes(id))
    return refuse(401, 'unauthorized_client', 'Invalid client or Invalid client credentials')
  const allowed = scopes.filter((scope) => !client.readOnly || scope.endsWith('.read'))
  const asked = (form.get('scope') ?? allowed.join(' ')).split(' ')
  if (behaviour.otherScopes === 'refused' && !asked.every((one) => allowed.some((scope) => scope === one)))
    return refuse(400, 'invalid_scope', `Invalid scopes: ${asked.join(' ')}`)
  return { secret, scopes: allowed.filter((scope) => asked.includes(scope)) }
}

function basicIn({ headers }: FastifyRequest): { id: string; secret: string } | undefined {
  const [, coded] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? []
  if (coded === undefined) return undefined
  const [id = '', ...secret] = Buffer.from(coded, 'base64').toString().split(':')
  return { id: decodeURIComponent(id), secret: decodeURIComponent(secret.join(':')) }
}

function neededFor({ method, url }: FastifyRequest): Scope[] {
  const [read, write]: [Scope, Scope] = url.startsWith('/tag-manager') ? ['tags.read', 'tags'] : ['bmc.read', 'bmc']
  return method === 'GET' ? [read, write] : [write]
}
