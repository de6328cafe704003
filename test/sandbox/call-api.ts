export type Json = Record<string, unknown>

export type Answer = {
  status: number
  headers: Headers
  text: string
  /** The body as an object; empty where it is not JSON. */
  body: Json
  /** The body as a list; empty where it is not a list. */
  list: Json[]
}

/** `auth` is the headers that carry the token; `body` is sent as JSON. */
export type Request = { url: string; route: string; body: unknown; auth: Record<string, string> }

/** Calls an API with a route such as `GET /ips`, and returns its answer whatever the status. */
export async function callApi({ url, route, body, auth }: Request): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ')
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...auth, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  const json: unknown = isJson ? JSON.parse(text) : {}
  const list = Array.isArray(json) ? (json as Json[]) : []
  return { status: response.status, headers: response.headers, text, body: json as Json, list }
}

/** Sends a command to a control API as curl does: JSON with the content type of a form. */
export async function sendCommand(
  controlUrl: string,
  route: string,
  body?: string,
): Promise<{ status: number; text: string; json: unknown }> {
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await fetch(controlUrl + path, { method, ...(body !== undefined && { body, headers }) })
  const text = await response.text()
  const isJson = text.startsWith('{') || text.startsWith('[')
  return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined }
}
