import { execFile } from 'node:child_process'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Child, startChild } from './child.ts'
import { type Access, type DialectName, dialects } from './dialects.ts'
import { productCommand } from './product-command.ts'

export type ProductOptions = {
  kubeconfig: string
  /** `equinix-metal` when absent. */
  dialect?: DialectName
  cloud: Access
  ports: { webhook: number; health: number }
  logFile: string
  env?: Record<string, string>
  flags?: string[]
  /** The arguments of an installed Deployment, instead of our own. */
  args?: string[]
}

export type ServeOptions = Omit<ProductOptions, 'kubeconfig'>

export type Product = Child & {
  ports: ProductOptions['ports']
  /** Sends a GET request to the secure port. */
  health(path: string): Promise<{ status: number; text: string }>
}

const command = await productCommand()

/** Starts `eip-admission serve` outside the cluster; `waitUntilReady` waits until it serves. */
export function startProduct({ kubeconfig, ...options }: ProductOptions): Product {
  const { ports, flags = [], logFile } = options
  // The flags may name another kubeconfig, and the last one counts.
  const args = serveArgs({ ...options, flags: [`--kubeconfig=${kubeconfig}`, ...flags] })
  const child = startChild([...command, ...args], { logFile, env: serveEnv(options) })
  // A guardian alone has no certificate.
  return productOf(child, ports, flags.includes('--only=control-plane') ? 'http' : 'https')
}

/** The arguments with which it serves, uses the simulated cloud and listens on loopback ports. */
export function serveArgs({ dialect = 'equinix-metal', cloud, ports, args, flags = [] }: ServeOptions): string[] {
  if (args) return [...args, ...flags]
  return [
    'serve',
    `--cloud-provider=${dialects[dialect].provider}`,
    `--base-url=${cloud.url}`,
    '--webhook-bind-address=127.0.0.1',
    `--webhook-secure-port=${ports.webhook}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.health}`,
    '--shutdown-delay-duration=0s',
    ...flags,
  ]
}

/** The environment of `serve`, with the settings of the dialect unless it has arguments of its own. */
export function serveEnv({ dialect = 'equinix-metal', cloud, args, env }: ServeOptions): NodeJS.ProcessEnv {
  return { ...inheritedEnv(), ...(args ? {} : dialects[dialect].env(cloud)), ...env }
}

/** A child that runs `serve`, as callers see it; `scheme` is that of the health port. */
export function productOf(child: Child, ports: ProductOptions['ports'], scheme: 'http' | 'https' = 'https'): Product {
  return { ...child, ports, health: (path) => get(`${scheme}://127.0.0.1:${ports.health}${path}`) }
}

/** Waits until the process is ready. Throws, and names its log, when it ends or is not ready after three minutes. */
export async function waitUntilReady(product: Product, logFile: string): Promise<void> {
  const deadlineMs = Date.now() + 180_000
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
  throw new Error(`eip-admission is not ready after 180 s (${last}); read its log: ${logFile}`)
}

/** Runs a command of eip-admission and returns what it printed; throws with that when it fails. */
export async function runProduct(args: string[], env: Record<string, string> = {}): Promise<string> {
  const [program = '', ...first] = command
  const { stdout } = await promisify(execFile)(program, [...first, ...args], {
    env: { ...inheritedEnv(), ...env },
  })
  return stdout
}

/** The part of our environment that a process of the product inherits: it contains no setting. */
export function inheritedEnv(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}

function get(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    // The API server checks this certificate; here only the health matters.
    const send = url.startsWith('http:') ? plainRequest : request
    const call = send(url, { rejectUnauthorized: false, timeout: 60_000 }, (answer) => {
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
