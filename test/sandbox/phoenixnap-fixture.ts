import { type PhoenixnapOptions, startPhoenixnap } from '../../sandbox/clouds/phoenixnap/server.ts'

export const blocks = '/ips/v1/ip-blocks'
export const networks = '/networks/v1/public-networks'
export const groups = '/networks/v1/bgp-peer-groups'
export const tags = '/tag-manager/v1/tags'

export type Body = Record<string, unknown> & { id: string; message: string; status: string }
type Grant = { access_token?: string; scope?: string; error?: string; error_description?: string }

const client = 'client'

/** A simulated phoenixNAP whose changes take two seconds of its own clock, and a client with every right. */
export async function open(options: Partial<PhoenixnapOptions> = {}) {
  const time = { ms: 0 }
  const tokens = [
    { token: 'secret', projects: [client] },
    { token: 'reader', projects: [client], readOnly: true },
    { token: 'theirs', projects: ['other'] },
  ]
  const cloud = await startPhoenixnap({ tokens, changeMs: 2_000, now: () => time.ms, ...options })
  const grant = async (secret: string, form: Record<string, string> = {}, id = client) => {
    const answer = await fetch(`${cloud.url}/auth/realms/BMC/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...form }),
    })
    return { code: answer.status, ...((await answer.json()) as Grant) }
  }
  const callWith = async (
    token: string | undefined,
    route: string,
    body?: unknown,
  ): Promise<Body & { code: number }> => {
    const [method = '', path = ''] = route.split(' ')
    const answer = await fetch(cloud.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { code: answer.status, ...((text ? JSON.parse(text) : {}) as Body) }
  }
  const { access_token: token = '' } = await grant('secret')
  const call = (route: string, body?: unknown) => callWith(token, route, body)
  const order = async (more: object = {}) => call(`POST ${blocks}`, { location: 'PHX', cidrBlockSize: '/31', ...more })
  return { ...cloud, time, grant, callWith, call, order, [Symbol.asyncDispose]: cloud.close }
}
