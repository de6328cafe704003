import { execFile } from 'node:child_process'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Child, startChild } from './child.ts'
import { type Access, type DialectName, dialects } from './dialects.ts'

export type ProductOptions = {
  kubeconfig: string
  /** `equinix-metal` when absent. */
  dialect?: DialectName
  cloud: Access
  ports: { webhook: number; health: number }
  logFile: string
  env?: Record<string, string>
  flags?: string[]
}

export type Product = Child & {
  ports: ProductOptions['ports']
  /** Sends a GET request to the secure port. */
  health(path: string): Promise<{ status: number; text: string }>
}

const entry = join(import.meta.dirname, '..', 'server', 'main.ts')

/** Starts `eip-admission serve` outside the cluster; `waitUntilReady` waits until it serves. */
export function startProduct(options: ProductOptions): Product {
  const { kubeconfig, cloud, ports, logFile, env = {}, flags = [] } = options
  const dialect = dialects[options.dialect ?? 'equinix-metal']
  const args = [
    `--cloud-provider=${dialect.provider}`,
    `--kubeconfig=${kubeconfig}`,
    `--base-url=${cloud.url}`,
    '--webhook-bind-address=127.0.0.1',
    `--webhook-secure-port=${ports.webhook}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.health}`,
    '--shutdown-delay-duration=0s',
    ...flags,
  ]
  const child = startChild([process.execPath, entry, 'serve', ...args], {
    logFile,
    env: { ...inheritedEnv(), ...dialect.env(cloud), ...env },
  })
  return { ...child, ports, health: (path) => get(`https://127.0.0.1:${ports.health}${path}`) }
}

/** Waits until the process is ready. Throws, and names its log, when it ends or is not ready after a minute. */
export async function waitUntilReady(product: Product, logFile: string): Promise<void> {
  const deadlineMs = Date.now() + 60_000
  let last = 'no answer'
  while (Date.now() < deadlineMs) {
    if (!product.isRunning()) throw new Error(`eip-admission ended while it started; read its log: ${logFile}`)
    const { status, text } = await product
      .health('/readyz')
      .catch((error: Error) => ({ status: 0, text: error.message }))
    if (status === 200) return
    last = text
    await sleep(25)
  }
  throw new Error(`eip-admission is not ready after 60 s (${last}); read its log: ${logFile}`)
}

/** Runs a command of eip-admission and returns what it printed; throws with that when it fails. */
export async function runProduct(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [entry, ...args], {
    env: { ...inheritedEnv(), ...env },
  })
  return stdout
}

/** The part of our environment that a process of the product inherits: it contains no setting. */
function inheritedEnv(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}

function get(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    // The API server checks this certificate; here only the health matters.
    const call = request(url, { rejectUnauthorized: false, timeout: 10_000 }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    call.on('timeout', () => call.destroy(new Error('no answer')))
    call.on('error', reject)
    call.end()
  })
}
