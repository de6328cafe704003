// A stage for the tests of the whole: a real control plane, a simulated cloud, the product, and what a user types.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { KubeObject, Service } from '../../kube/objects.ts'
import type { ElasticIP } from '../../ledger/elastic-ip.ts'
import type { Said } from '../../sandbox/kubectl.ts'
import type { Product, ProductOptions } from '../../sandbox/product.ts'
import { type Stage, type StageOptions, setStage } from '../../sandbox/stage.ts'
import { type Reservation, reservationsIn } from './cloud-view.ts'
import { eventually } from './eventually.ts'

export type Running = Pick<ProductOptions, 'env' | 'flags'>

export type World = Stage & {
  dir: string
  /** Starts the product and waits until it knows the cloud's locations; every line of its log is written. */
  start(running?: Running): Promise<Product>
  /** Starts it as the leader, and waits until all is over that the cloud is asked at a start. */
  startSwept(running?: Running): Promise<Product>
  /** `kubectl <verb> -f - -o json`, which has to succeed; the object that the terminal shows. */
  send(verb: string[], manifest: object): Promise<Service>
  create(manifest: object): Promise<Service>
  /** Any command that has to succeed; what it printed. */
  must(...args: string[]): Promise<string>
  service(name: string, namespace?: string): Promise<Service | undefined>
  record(name: string, namespace?: string): Promise<ElasticIP | undefined>
  /** Waits until a Service shows its address in its status and the ledger has bound it; answers the address. */
  settled(name: string, namespace?: string): Promise<string>
  /** Waits until a Service and its record are gone. */
  gone(name: string, namespace?: string): Promise<void>
  /** What the project pays for. */
  reserved(): Reservation[]
  /** How many calls of a route the cloud saw since its log was cleared. */
  calls(route: string): number
  /** The roles were enough for all that the product did so far, and nothing that it wrote can be used to be it. */
  checkLog(): void
  /** Checks the log and takes the stage down whatever it says, then what the stage stood on. */
  close(ground?: { close(): Promise<void> }): Promise<void>
}

export const routes = {
  reserve: 'POST /projects/{id}/ips',
  list: 'GET /projects/{id}/ips',
  release: 'DELETE /ips/{id}',
} as const

/** Sets a stage in a folder of its own, which goes when the file's tests were all good and stays for its logs else. */
export async function openWorld(options: Omit<StageOptions, 'dir'> = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  process.once('exit', (code) => {
    if (code === 0) rmSync(dir, { recursive: true, force: true })
    else console.error(`the logs of a failed test of the whole: ${join(dir, 'logs')}`)
  })
  const stage = await setStage({ dir, ...options })
  const typed = terminal(stage)
  const cloud = () => reservationsIn(stage.cloud.door)
  return {
    ...stage,
    ...typed,
    ...waits(typed),
    dir,
    start: (running) => start(stage, running),
    async startSwept(running) {
      const swept = () => stage.cloud.door.calls.all(routes.list).filter(({ status }) => status === 200).length
      const before = swept()
      const product = await start(stage, running)
      await eventually('the first sweep reads the cloud', () => swept() > before || undefined)
      await eventually('the first sweep leaves its mark', () => hasMark(stage))
      if (running?.env?.['METAL_LOAD_BALANCER'] === undefined) await peered(product)
      return product
    },
    reserved: cloud,
    calls: (route) => stage.cloud.door.calls.count(route),
    checkLog: () => checkLog(stage),
    async close(ground) {
      try {
        checkLog(stage)
      } finally {
        await stage.stop()
        await ground?.close()
      }
    },
  }
}

type Terminal = Pick<World, 'send' | 'create' | 'must' | 'service' | 'record'>

function terminal({ kubectl }: Pick<Stage, 'kubectl'>): Terminal {
  const get = async <T extends KubeObject>(args: string[]): Promise<T | undefined> => {
    const { stdout } = succeeded(args, await kubectl(['get', ...args, '--ignore-not-found', '-o', 'json']))
    return stdout === '' ? undefined : (JSON.parse(stdout) as T)
  }
  const send: Terminal['send'] = async (verb, manifest) => {
    const args = [...verb, '-f', '-', '-o', 'json']
    return JSON.parse(succeeded(args, await kubectl(args, manifest)).stdout) as Service
  }
  return {
    send,
    create: (manifest) => send(['create'], manifest),
    must: async (...args) => succeeded(args, await kubectl(args)).stdout,
    service: (name, namespace = 'default') => get(['service', name, '-n', namespace]),
    record: (name, namespace = 'default') => get(['eip', `${namespace}.${name}`]),
  }
}

function succeeded(args: string[], said: Said): Said {
  if (said.code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit ${said.code}\n${said.stdout}${said.stderr}`)
  return said
}

function waits({ service, record }: Terminal): Pick<World, 'settled' | 'gone'> {
  return {
    settled: (name, namespace = 'default') =>
      eventually(`${namespace}/${name} shows its address and is bound`, async (see) => {
        const [stored, held] = see(await Promise.all([service(name, namespace), record(name, namespace)]))
        const address = shownIn(stored)
        const bound = held?.status?.phase === 'Bound' && held.spec.claimRef?.uid === stored?.metadata.uid
        return bound && held.status?.address === address && stored?.spec.loadBalancerIP === address
          ? address
          : undefined
      }),
    gone: (name, namespace = 'default') =>
      eventually(`${namespace}/${name} and its record are gone`, async (see) => {
        const left = see(await Promise.all([service(name, namespace), record(name, namespace)]))
        return left.every((object) => object === undefined) || undefined
      }).then(() => undefined),
  }
}

/** The address in the status of a Service. */
export function shownIn(service: Service | undefined): string | undefined {
  return service?.status?.loadBalancer?.ingress?.[0]?.ip
}

async function start(stage: Stage, { env, flags = [] }: Running = {}): Promise<Product> {
  const { calls } = stage.cloud.door
  const answered = () =>
    ['/locations/metros', '/projects/*/facilities'].map(
      (path) => calls.all(`GET ${path}`).filter(({ status }) => status === 200).length,
    )
  const before = answered()
  const product = await stage.serve({ ...(env && { env }), flags: ['--v=5', ...flags] })
  await eventually(
    'the product reads the locations',
    () => answered().every((count, n) => count > (before[n] ?? 0)) || undefined,
  )
  return product
}

/** With a load balancer the project's BGP is looked at once, at the start. */
async function peered(product: Product): Promise<void> {
  await eventually('the project is looked at', async () => {
    const { text } = await product.health('/metrics')
    return text.includes('controller="project-peering"') || undefined
  })
}

async function hasMark({ kubectl }: Stage): Promise<true | undefined> {
  const { code } = await kubectl(['get', 'configmap', 'eip-admission-ledger', '-n', 'eip-admission'])
  return code === 0 || undefined
}

function checkLog(stage: Stage): void {
  const { token, controlPlane } = stage
  const log = readFileSync(stage.logOf('eip-admission'), 'utf8')
  const secrets = [token, ...(readFileSync(join(controlPlane.dir, 'tokens.csv'), 'utf8').match(/^[^,]+/gm) ?? [])]
  assert.is(log.match(/User \\?"[^"]*" cannot .*/)?.[0], undefined, 'the roles of the product lack a right')
  assert.is(log.match(/.*(no decision|UnhandledPromise|TypeError|ReferenceError).*/)?.[0], undefined)
  for (const secret of secrets) assert.not(log.includes(secret), 'a secret is in the log')
}
