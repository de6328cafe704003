import { readFileSync } from 'node:fs'
import { appFolder, commandLine, imageEnv, imageNode } from '../packaging/program.ts'
import { startChild } from './child.ts'
import { type Container, contained } from './container.ts'
import type { ControlPlane } from './control-plane/start.ts'
import { type Product, type ServeOptions, productOf, serveArgs, serveEnv } from './product.ts'

export type PodOptions = ServeOptions & { container: Container; controlPlane: Pick<ControlPlane, 'url'> }

/** Starts `eip-admission serve` from the files of the image, as a pod of the cluster does. */
export function startPod({ container, controlPlane, ...options }: PodOptions): Product {
  const { hostname, port } = new URL(controlPlane.url)
  const command = [...commandLine(appFolder, imageNode), ...serveArgs(options)]
  const child = startChild(contained(container, command), {
    logFile: options.logFile,
    env: { ...serveEnv(options), ...imageEnv, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  })
  const signal = (name: NodeJS.Signals) => void process.kill(firstProcess(child.pid), name)
  return {
    // A guardian alone has no certificate.
    ...productOf(child, options.ports, options.flags?.includes('--only=control-plane') ? 'http' : 'https'),
    get pid() {
      return firstProcess(child.pid)
    },
    signal,
    async stop(name = 'SIGTERM', graceMs) {
      if (child.isRunning()) signal(name)
      // unshare, which is our child, waits for the container and ends with its exit code.
      return child.stop('SIGCONT', graceMs)
    },
  }
}

/** The pid, on this machine, of the first process in the namespace that unshare made. */
function firstProcess(unshare: number): number {
  const children = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim()
  if (!/^\d+$/.test(children)) throw new Error(`the container of process ${unshare} has no first process`)
  return Number(children)
}
