import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../kube/connect.ts'
import type { KubeClient } from '../../kube/client.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { DialectName } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { type Stage, setStage, unlimited } from '../../sandbox/stage.ts'
import { dialectOf } from '../whole/dialects.ts'

/** One process of the product, which a step starts or kills. */
export type Replica = Pick<Product, 'health'> & {
  name: string
  start(): Promise<void>
  kill(): Promise<void>
  isRunning(): boolean
}

export type Arena = {
  stage: Stage<DialectName>
  client: KubeClient
  replicas: Replica[]
  logs: string
  close(isGood: boolean): Promise<void>
}

// So short that a wait for a killed process, or for a Service that is never stored, takes seconds.
const flags = [
  '--cloud-timeout=1s',
  '--unbound-grace=3s',
  '--sweep-interval=1s',
  '--webhook-probe-interval=1s',
  '--leader-elect-lease-duration=2s',
  '--leader-elect-renew-deadline=1500ms',
  '--leader-elect-retry-period=300ms',
]

/** A cluster with two replicas of the product, one of them without webhooks, and an administrator's client. */
export async function openArena(dialect: DialectName): Promise<Arena> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-chaos-'))
  const stage = await setStage({ dir, dialect, env: unlimited })
  const client = connect(kubeconfig({ file: stage.controlPlane.kubeconfig }), { userAgent: 'chaos', timeoutMs: 20_000 })
  const replicas = [replica(stage, 'both', []), replica(stage, 'controllers', ['--only=controllers'])]
  for (const one of replicas) await one.start()
  return {
    stage,
    client,
    replicas,
    logs: join(dir, 'logs'),
    async close(isGood) {
      await stage.stop()
      if (isGood) rmSync(dir, { recursive: true, force: true })
    },
  }
}

function replica(stage: Arena['stage'], name: string, only: string[]): Replica {
  let product: Product | undefined
  return {
    name,
    async start() {
      product = await stage.serve({ env: dialectOf(stage.dialect).here, flags: [...flags, ...only] })
    },
    async kill() {
      await product?.stop('SIGKILL')
    },
    isRunning: () => product?.isRunning() ?? false,
    async health(path) {
      if (!product) throw new Error(`${name} was not started`)
      return product.health(path)
    },
  }
}
