import { once } from 'node:events'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Json } from '../clouds/control.ts'

/** A person at the cloud's console, who uses the vendor's API with a token of their own. */
export type Console = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => Promise<Json>

/** Makes a console; a call that the cloud refuses throws with the cloud's words. */
export function makeConsole(cloud: { url: string; ca: string; headers: Record<string, string> }): Console {
  return async (method, path, body) => {
    const headers = { ...cloud.headers, ...(body && { 'content-type': 'application/json' }) }
    const call = request(`${cloud.url}${path}`, { method, headers, ca: cloud.ca })
    call.end(body && JSON.stringify(body))
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    let text = ''
    for await (const part of answer.setEncoding('utf8')) text += part
    if ((answer.statusCode ?? 0) >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Json)
  }
}
