// The basis for tests of the whole product: a real control plane, a simulated cloud, the product and kubectl.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { hasBgp } from '../../sandbox/dialect-names.ts'
import type { DialectName } from '../../sandbox/dialects.ts'
import { startControlPlane } from '../../sandbox/control-plane/start.ts'
import type { Product, ProductOptions } from '../../sandbox/product.ts'
import { type Stage, type StageOptions, setStage, unlimited } from '../../sandbox/stage.ts'
import { afterFailure } from '../after-failure.ts'
import { testControlPlane } from '../control-planes/shared.ts'
import { type Reservation, dialectOf, reservationsIn } from './dialects.ts'
import { eventually } from './eventually.ts'
import { type Stored, stored } from './stored.ts'
import { type CheckedKubectl, checkedKubectl, withoutSchemas } from './checked-kubectl.ts'
import { recordedKubectl } from './last-commands.ts'

export type Running = Pick<ProductOptions, 'env' | 'flags'>

/** A stage in one dialect; in a file of the matrix, in the dialect of its run. */
export type TestStage<D extends DialectName = DialectName> = Stage<D> &
  CheckedKubectl &
  Stored & {
    dir: string
    /** A client of the API server as its administrator. */
    client: KubeClient
    /** Starts the product with its full log and waits until it knows the cloud's locations. */
    start(running?: Running): Promise<Product>
    /** Starts it as the leader, and waits until it has made every call to the cloud that a start makes. */
    startSwept(running?: Running): Promise<Product>
    /** The reservations that the project pays for. */
    reserved(): Reservation[]
    /** Orders an address without the product, as an operator or a predecessor does. */
    order(tags?: string[]): Promise<{ id: string; address: string }>
    /** The number of calls of a route since the cloud's log was cleared, except those that its rate limit refused. */
    calls(route: string): number
    /** Checks that the product's log shows no missing right, no unexpected error and no secret. */
    checkLog(): void
    /** Checks the log and stops everything, even if the check fails; then closes `below`, which the stage used. */
    close(below?: { close(): Promise<void> }): Promise<void>
  }

export type TestStageOptions<D extends DialectName> = Omit<StageOptions<D>, 'dir'> & {
  /** For tests that stop the API server, or do anything else to it that the next test would notice. */
  ownControlPlane?: boolean
}

/** The default of packet, 30 s, would add calls of a sweep to those that a test counts. */
const seldomSwept = { EIP_SWEEP_INTERVAL: '1h' }

export { routes } from './dialects.ts'

/** Starts a stage in its own folder, which is deleted when all tests of the file pass; otherwise its logs stay. */
export async function openStage<D extends DialectName = 'equinix-metal'>(
  options: TestStageOptions<D> = {},
): Promise<TestStage<D>> {
  const { ownControlPlane = false, ...others } = options
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  process.once('exit', (code) => {
    if (code === 0) rmSync(dir, { recursive: true, force: true })
    else console.error(`the logs of the failed tests: ${join(dir, 'logs')}`)
  })
  const controlPlaneFor = ownControlPlane ? startControlPlane : testControlPlane
  const stage = await setStage<D>({ dir, env: { ...unlimited, ...seldomSwept }, controlPlaneFor, ...others })
  const { cloud, project, token, controlPlane } = stage
  const client = connect(kubeconfig({ file: controlPlane.kubeconfig }), { userAgent: 'test', timeoutMs: 30_000 })
  const { kubectl, lastCommands } = recordedKubectl(withoutSchemas(stage.kubectl))
  afterFailure(() => {
    console.error(`the last commands before the failure:\n${lastCommands()}`)
    // The next test did not add these.
    cloud.control.faults.clear()
    cloud.control.latency.clear()
  })
  return {
    ...stage,
    kubectl,
    ...checkedKubectl(kubectl),
    ...stored(client),
    ...starts(stage),
    dir,
    client,
    reserved: () => reservationsIn(stage.dialect, cloud.control),
    order: (tags) => dialectOf(stage.dialect).order({ url: cloud.url, project, token }, tags),
    calls: (route) => cloud.control.calls.all(route).filter(({ status }) => status !== 429).length,
    checkLog: () => checkLog(stage),
    async close(below) {
      try {
        checkLog(stage)
      } finally {
        await stage.stop()
        await below?.close()
      }
    },
  }
}

function starts(stage: Stage<DialectName>): Pick<TestStage, 'start' | 'startSwept'> {
  const { loadBalancer, places, routes: own } = dialectOf(stage.dialect)
  const answered = (route: string) => stage.cloud.control.calls.all(route).filter(({ status }) => status === 200).length
  const start: TestStage['start'] = async ({ env, flags = [] } = {}) => {
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
      const before = answered(own.list)
      const product = await start(running)
      await eventually('the first sweep reads the provider', () => answered(own.list) > before || undefined)
      await hasReconciled(product, 'ledger-sweep')
      const isPeered = (running?.env?.[loadBalancer] ?? 'empty://') === 'empty://' && hasBgp(stage.dialect)
      if (isPeered) await hasReconciled(product, 'project-peering')
      return product
    },
  }
}

/** Waits for a controller's first reconcile: the sweep's writes the adoption mark, the peering's reads the project. */
async function hasReconciled(product: Product, controller: string): Promise<void> {
  await eventually(`the first reconcile of ${controller}`, async () => {
    const { text } = await product.health('/metrics')
    return text.includes(`controller="${controller}"`) || undefined
  })
}

function checkLog(stage: Pick<Stage, 'token' | 'controlPlane' | 'logOf'>): void {
  const { token, controlPlane } = stage
  // A test may fail before it starts the product.
  if (!existsSync(stage.logOf('eip-admission'))) return
  const log = readFileSync(stage.logOf('eip-admission'), 'utf8')
  const secrets = [token, ...(readFileSync(join(controlPlane.dir, 'tokens.csv'), 'utf8').match(/^[^,]+/gm) ?? [])]
  assert.is(log.match(/User \\?"[^"]*" cannot .*/)?.[0], undefined, 'the roles of the product lack a right')
  // A leading `.*` would be tried at each position of each line, which takes seconds.
  const unexpected = /no decision|UnhandledPromise|TypeError|ReferenceError/
  assert.is(unexpected.test(log) ? log.split('\n').find((line) => unexpected.test(line)) : undefined, undefined)
  for (const secret of secrets) assert.not(log.includes(secret), 'a secret is in the log')
}
