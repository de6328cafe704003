// A stage for the tests of the whole: a real control plane, a simulated cloud, the product, and what a user types.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { configMaps } from '../../kube/resource.ts'
import type { DialectName } from '../../sandbox/dialects.ts'
import type { Product, ProductOptions } from '../../sandbox/product.ts'
import { type Stage, type StageOptions, setStage } from '../../sandbox/stage.ts'
import { type Reservation, dialectOf, reservationsIn } from './dialects.ts'
import { eventually } from './eventually.ts'
import { type Stored, stored } from './stored.ts'
import { type Terminal, terminal } from './terminal.ts'

export type Running = Pick<ProductOptions, 'env' | 'flags'>

/** In one dialect, or in whichever a file of the matrix runs. */
export type World<D extends DialectName = DialectName> = Stage<D> &
  Terminal &
  Stored & {
    dir: string
    /** The API server as its administrator. */
    client: KubeClient
    /** Starts the product and waits until it knows the cloud's locations; every line of its log is written. */
    start(running?: Running): Promise<Product>
    /** Starts it as the leader, and waits until all is over that the cloud is asked at a start. */
    startSwept(running?: Running): Promise<Product>
    /** What the project pays for. */
    reserved(): Reservation[]
    /** Orders an address past the product, as a person does it or a cluster before it. */
    order(tags?: string[]): Promise<{ id: string; address: string }>
    /** How many calls of a route the cloud saw since its log was cleared. */
    calls(route: string): number
    /** The roles were enough for all that the product did so far, and nothing that it wrote can be used to be it. */
    checkLog(): void
    /** Checks the log and takes the stage down whatever it says, then what the stage stood on. */
    close(ground?: { close(): Promise<void> }): Promise<void>
  }

/** The calls that every cloud here has under the same name. */
export const routes = {
  reserve: 'POST /projects/{id}/ips',
  list: 'GET /projects/{id}/ips',
  release: 'DELETE /ips/{id}',
} as const

/** Sets a stage in a folder of its own, which goes when the file's tests were all good and stays for its logs else. */
export async function openWorld<D extends DialectName = 'equinix-metal'>(
  options: Omit<StageOptions<D>, 'dir'> = {},
): Promise<World<D>> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  process.once('exit', (code) => {
    if (code === 0) rmSync(dir, { recursive: true, force: true })
    else console.error(`the logs of a failed test of the whole: ${join(dir, 'logs')}`)
  })
  const stage = await setStage<D>({ dir, ...options })
  const { cloud, project, token, controlPlane } = stage
  const client = connect(kubeconfig({ file: controlPlane.kubeconfig }), { userAgent: 'test', timeoutMs: 30_000 })
  return {
    ...stage,
    ...terminal(stage.kubectl),
    ...stored(client),
    ...starts(stage, client),
    dir,
    client,
    reserved: () => reservationsIn(stage.dialect, cloud.door),
    order: (tags) => dialectOf(stage.dialect).order({ url: cloud.url, project, token }, tags),
    calls: (route) => cloud.door.calls.count(route),
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

function starts(stage: Stage<DialectName>, client: KubeClient): Pick<World, 'start' | 'startSwept'> {
  const { loadBalancer, places } = dialectOf(stage.dialect)
  const answered = (route: string) => stage.cloud.door.calls.all(route).filter(({ status }) => status === 200).length
  const start: World['start'] = async ({ env, flags = [] } = {}) => {
    const before = places.map(answered)
    const product = await stage.serve({ ...(env && { env }), flags: ['--v=5', ...flags] })
    await eventually(
      'the product reads the locations',
      () => places.every((route, n) => answered(route) > (before[n] ?? 0)) || undefined,
    )
    return product
  }
  return {
    start,
    async startSwept(running) {
      const before = answered(routes.list)
      const product = await start(running)
      await eventually('the first sweep reads the cloud', () => answered(routes.list) > before || undefined)
      const mark = { namespace: 'eip-admission', name: 'eip-admission-ledger' }
      await eventually('the first sweep leaves its mark', () => client.get(configMaps, mark))
      if ((running?.env?.[loadBalancer] ?? 'empty://') === 'empty://') await peered(product)
      return product
    },
  }
}

/** With a load balancer the project's BGP is looked at once, at the start. */
async function peered(product: Product): Promise<void> {
  await eventually('the project is looked at', async () => {
    const { text } = await product.health('/metrics')
    return text.includes('controller="project-peering"') || undefined
  })
}

function checkLog(stage: Pick<Stage, 'token' | 'controlPlane' | 'logOf'>): void {
  const { token, controlPlane } = stage
  const log = readFileSync(stage.logOf('eip-admission'), 'utf8')
  const secrets = [token, ...(readFileSync(join(controlPlane.dir, 'tokens.csv'), 'utf8').match(/^[^,]+/gm) ?? [])]
  assert.is(log.match(/User \\?"[^"]*" cannot .*/)?.[0], undefined, 'the roles of the product lack a right')
  assert.is(log.match(/.*(no decision|UnhandledPromise|TypeError|ReferenceError).*/)?.[0], undefined)
  for (const secret of secrets) assert.not(log.includes(secret), 'a secret is in the log')
}
