import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { services } from '../kube/resource.ts'
import { serviceAccountUser } from '../settings/installed-names.ts'
import { freePorts } from '../sandbox/ports.ts'
import { startPod } from '../sandbox/pod.ts'
import { type Product, type ServeOptions, startProduct } from '../sandbox/product.ts'
import { type Stage, unlimited } from '../sandbox/stage.ts'
import { withImage } from './image.ts'
import type { Row } from './measure.ts'
import { inRounds, time } from './samples.ts'
import { type Admin, env, loadBalancer, namespace, onStage, swept, until, whenAddressed } from './stage.ts'

const rounds = 5

type At = { stage: Stage; admin: Admin; rootfs: string }

type Figures = Record<'ready' | 'address', number[]>

/** The time from the start of the process until it is ready, and until a waiting Service has its address. */
export function start(): Promise<Row[]> {
  return withImage((rootfs) => onStage((stage, admin) => measure({ stage, admin, rootfs })))
}

async function measure(at: At): Promise<Row[]> {
  const { stage, admin } = at
  // The authority is issued once in the life of a cluster, and the first sweep runs once.
  const first = await stage.serve({ env })
  await swept(admin)
  await first.stop()
  const pod = noFigures()
  const outside = noFigures()
  const bare: number[] = []
  await inRounds(rounds, {
    pod: () => comeUp(at, launchPod, pod),
    outside: () => comeUp(at, launchOutside, outside),
    bare: async () => void bare.push(await time(() => runNode(['-e', '0']))),
  })
  const beside = { what: 'node -e 0', samples: bare }
  return [
    { measure: 'start to ready', unit: 'ms', ours: pod.ready, beside, goal: { of: 'ours', atMost: 500 } },
    { measure: 'start to first address', unit: 'ms', ours: pod.address, beside, goal: { of: 'ours', atMost: 800 } },
    { measure: 'start to ready, with a kubeconfig', unit: 'ms', ours: outside.ready, beside },
    { measure: 'start to first address, with a kubeconfig', unit: 'ms', ours: outside.address, beside },
  ]
}

function noFigures(): Figures {
  return { ready: [], address: [] }
}

/** Starts the product while a Service waits, deletes the Service and stops the product. */
async function comeUp(at: At, launch: (at: At) => Promise<Product>, seen: Figures): Promise<void> {
  const { admin } = at
  const waiting = await admin.create(services, loadBalancer('waiting'))
  const startedMs = performance.now()
  const product = await launch(at)
  const [readyMs, addressMs] = await Promise.all([whenReady(product), whenAddressed(admin, waiting)])
  seen.ready.push(readyMs - startedMs)
  seen.address.push(addressMs - startedMs)
  const name = { namespace: 'default', name: 'waiting' }
  await admin.remove(services, name)
  await until('the Service no longer exists', async () => (await admin.get(services, name)) === undefined)
  await product.stop()
}

async function launchPod({ stage, rootfs }: At): Promise<Product> {
  const { controlPlane } = stage
  const container = { rootfs, account: await stage.accountFiles(), dir: controlPlane.dir }
  return startPod({ ...(await options(stage)), controlPlane, container })
}

async function launchOutside({ stage }: At): Promise<Product> {
  const kubeconfig = stage.controlPlane.kubeconfigFor(serviceAccountUser(namespace))
  return startProduct({ ...(await options(stage)), kubeconfig })
}

async function options(stage: Stage): Promise<ServeOptions> {
  const { cloud, project, token } = stage
  const [webhook = 0, health = 0] = await freePorts(2)
  return {
    cloud: { url: cloud.url, project, token },
    ports: { webhook, health },
    logFile: stage.logOf('eip-admission'),
    env: { ...unlimited, ...env },
  }
}

async function whenReady(product: Product): Promise<number> {
  const isReady = async () => {
    if (!product.isRunning()) throw new Error('the product ended while it was starting')
    const answer = await product.health('/readyz').catch(() => undefined)
    return answer?.status === 200
  }
  await until('the product is ready', isReady, 5)
  return performance.now()
}

async function runNode(args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: join(import.meta.dirname, '..'), stdio: 'ignore' })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`)
}
