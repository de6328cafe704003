import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child.ts'

/** Waits until the API server answers /readyz; throws when it ends or takes longer than a minute, naming its log. */
export async function ready(api: { url: string; token: string; child: Child; log: string }): Promise<void> {
  const deadlineMs = Date.now() + 60_000
  while (Date.now() < deadlineMs) {
    if (!api.child.isRunning()) throw new Error(`kube-apiserver ended while starting; its log: ${api.log}`)
    if ((await readyz(api.url, api.token)) === 200) return
    await sleep(100)
  }
  throw new Error(`kube-apiserver is not ready after 60 s; its log: ${api.log}`)
}

function readyz(url: string, token: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    // The certificate is the one that the server made a moment ago: there is nothing yet to check it against.
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
