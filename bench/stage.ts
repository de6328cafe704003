import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../kube/client.ts'
import { connect } from '../kube/connect.ts'
import { kubeconfig } from '../kube/kubeconfig.ts'
import type { Service } from '../kube/objects.ts'
import { configMaps, services } from '../kube/resource.ts'
import type { Watcher } from '../kube/watch.ts'
import { elasticIPs, phaseOf } from '../ledger/record/elastic-ip.ts'
import { names } from '../settings/installed-names.ts'
import type { DialectName } from '../sandbox/dialects.ts'
import { type Stage, type StageOptions, setStage, unlimited } from '../sandbox/stage.ts'

/** The product's namespace on a stage. */
export const namespace = 'eip-admission'

/** The location of all addresses in every measurement. */
export const env = { METAL_METRO_NAME: 'da' }

/** A client of the API server with all rights, without the start time of kubectl. */
export type Admin = KubeClient & Watcher

/** Runs work on a stage and stops everything, even if the work fails or is interrupted. */
export async function onStage<T, D extends DialectName = 'equinix-metal'>(
  work: (stage: Stage<D>, admin: Admin) => Promise<T>,
  more: Pick<StageOptions<D>, 'rootfs' | 'controllers' | 'dialect'> = {},
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-bench-'))
  let stage: Stage<D> | undefined
  let leaving: Promise<void> | undefined
  const takeDown = async () => {
    await stage?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
  const leave = () => (leaving ??= takeDown())
  const interrupt = () => void leave().finally(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  try {
    stage = await setStage<D>({ dir, env: unlimited, ...more })
    const admin = connect(kubeconfig({ file: stage.controlPlane.kubeconfig }), { userAgent: 'eip-admission-bench' })
    return await work(stage, admin)
  } catch (error) {
    // The product's log, which tells what went wrong, will be deleted with the folder.
    const log = stage?.logOf('eip-admission') ?? ''
    if (existsSync(log)) console.error(readFileSync(log, 'utf8'))
    throw error
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt)
    await leave()
  }
}

/** A LoadBalancer Service as a user writes it. */
export function loadBalancer(name: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }] },
  }
}

/** A Service without a node port: their default range has 2,768. */
export const withoutNodePort = { allocateLoadBalancerNodePorts: false }

/** Creates a Service and returns whether the answer has its address. */
export async function createWithAddress(
  admin: Admin,
  name: string,
  spec: Partial<Service['spec']> = {},
): Promise<boolean> {
  const service = loadBalancer(name)
  const wanted = { ...service, spec: { ...service.spec, ...spec } }
  const created = await admin.create(services, wanted, { timeoutMs: 30_000 })
  return created.spec.loadBalancerIP !== undefined
}

/** Waits for the mark of the first sweep. From then on, a new Service costs one call to the provider. */
export function swept(admin: Admin): Promise<void> {
  const at = { namespace, name: names.ledgerConfigMap }
  return until(
    'the first sweep is over',
    async () => (await admin.get(configMaps, at))?.data?.['adopted-by'] !== undefined,
  )
}

/** Waits until this many records are bound, so that the controller has nothing left to do for them. */
export function bound(admin: Admin, count: number): Promise<void> {
  return until(`${count} addresses are bound`, async () => {
    const { items } = await admin.list(elasticIPs)
    return items.filter((record) => phaseOf(record) === 'Bound').length === count
  })
}

/** Waits until `isSo` returns true; throws after four minutes. */
export async function until(what: string, isSo: () => Promise<boolean>, periodMs = 100): Promise<void> {
  const deadlineMs = performance.now() + 240_000
  while (!(await isSo())) {
    if (performance.now() > deadlineMs) throw new Error(`not so after four minutes: ${what}`)
    await sleep(periodMs)
  }
}

/** Waits until a Service has its address, and returns when that was. */
export async function whenAddressed(admin: Admin, { metadata }: Service): Promise<number> {
  const { resourceVersion = '' } = metadata
  const ends = new AbortController()
  for await (const { type, object } of admin.watch(services, { namespace: 'default', resourceVersion }, ends.signal)) {
    if (type === 'MODIFIED' && object.spec.loadBalancerIP !== undefined) return performance.now()
  }
  throw new Error('the watch ended before the Service had its address')
}
