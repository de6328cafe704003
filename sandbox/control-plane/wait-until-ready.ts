import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child.ts'

/** Waits until the API server is ready. Throws, and names its log, when it ends or is not ready after three minutes. */
export async function waitUntilReady(api: { url: string; token: string; child: Child; log: string }): Promise<void> {
  const deadlineMs = Date.now() + 180_000
  while (Date.now() < deadlineMs) {
    if (!api.child.isRunning()) throw new Error(`kube-apiserver ended while it started; read its log: ${api.log}`)
    if ((await readReadyz(api.url, api.token)) === 200) return
    await sleep(100)
  }
  throw new Error(`kube-apiserver is not ready after 180 s; read its log: ${api.log}`)
}

function readReadyz(url: string, token: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    // The server has just made its certificate, so there is nothing yet to check it against.
    const options = { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, timeout: 2000 }
    const call = request(`${url}/readyz`, options, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    call.on('timeout', () => call.destroy())
    call.on('error', () => resolve(undefined))
    call.end()
  })
}
