import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../kube/connect.ts'
import type { KubeClient } from '../../kube/client.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { DialectName } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { type Stage, setStage, unlimited } from '../../sandbox/stage.ts'
import { hasBgp } from '../../sandbox/dialect-names.ts'
import { dialectOf } from '../whole/dialects.ts'
import { simulatedNodes } from '../whole/simulated-nodes.ts'

/** One process of the product, which a step starts or kills. */
export type Replica = Pick<Product, 'health'> & {
  name: string
  start(): Promise<void>
  kill(): Promise<void>
  isRunning(): boolean
}

/** The nodes, where the cloud leads each address to one of them; elsewhere none. */
export type ArenaNodes = {
  names: string[]
  /** A node that is well fails, or the other way around. */
  toggle: (name: string) => Promise<void>
  recover: () => Promise<void>
  /** Whether a machine belongs to a node. */
  has: (machine: string) => boolean
}

export type Arena = {
  stage: Stage<DialectName>
  client: KubeClient
  replicas: Replica[]
  nodes: ArenaNodes
  /** The ids of the reservations that another cluster of the project has ordered. */
  ordered: string[]
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
  // A cloud that leads addresses to nodes has both families.
  const serviceRanges = ['10.96.0.0/16', ...(hasBgp(dialect) ? [] : ['fd00:96::/112'])]
  const stage = await setStage({ dir, dialect, env: unlimited, serviceRanges })
  const client = connect(kubeconfig({ file: stage.controlPlane.kubeconfig }), { userAgent: 'chaos', timeoutMs: 20_000 })
  const replicas = [replica(stage, 'both', []), replica(stage, 'controllers', ['--only=controllers'])]
  for (const one of replicas) await one.start()
  const nodes = await joinNodes({ client, cloud: stage.cloud }, hasBgp(dialect) ? [] : ['node-a', 'node-b', 'node-c'])
  return {
    stage,
    client,
    replicas,
    nodes,
    ordered: [],
    logs: join(dir, 'logs'),
    async close(isGood) {
      await stage.stop()
      if (isGood) rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function joinNodes(
  place: Pick<Arena, 'client'> & Pick<Arena['stage'], 'cloud'>,
  names: string[],
): Promise<ArenaNodes> {
  const { device, register, settled, say } = simulatedNodes(place)
  const machines = new Set<string>()
  const failed = new Set<string>()
  for (const name of names) {
    machines.add(device(name).id)
    await register(name)
    await settled(name)
    await say(name, 'True')
  }
  const set = async (name: string, isWell: boolean) => {
    if (isWell) failed.delete(name)
    else failed.add(name)
    await say(name, isWell ? 'True' : 'Unknown')
  }
  return {
    names,
    toggle: (name) => set(name, failed.has(name)),
    async recover() {
      for (const name of names) await set(name, true)
    },
    has: (machine) => machines.has(machine),
  }
}

function replica(stage: Arena['stage'], name: string, only: string[]): Replica {
  let product: Product | undefined
  return {
    name,
    async start() {
      const { here, loadBalancer } = dialectOf(stage.dialect)
      // Without probes: nothing may be sent to the addresses of machines that do not exist.
      const assigned = hasBgp(stage.dialect) ? {} : { [loadBalancer]: 'assign:///?probe=off' }
      product = await stage.serve({ env: { ...here, ...assigned }, flags: [...flags, ...only] })
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
