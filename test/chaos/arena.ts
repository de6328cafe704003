import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../kube/connect.ts'
import type { KubeClient } from '../../kube/client.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { type DialectName, dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { type Stage, setStage, unlimited } from '../../sandbox/stage.ts'
import { hasBgp } from '../../sandbox/dialect-names.ts'
import { dialectOf } from '../whole/dialects.ts'
import { simulatedNodes } from '../whole/simulated-nodes.ts'

/** A mistake with which a process starts. */
export type Mistake = { kind: 'other account' } | { kind: 'clock'; aheadMs: number }

/** A process of the product, which a step starts or kills. */
export type Replica = Pick<Product, 'health'> & {
  name: string
  start(mistake?: Mistake): Promise<void>
  kill(): Promise<void>
  isRunning(): boolean
  /** Starts it if it does not run, and restarts it if it was started with a mistake. */
  recover(): Promise<void>
}

/** Another account at the same cloud, whose Secret somebody copies into this cluster. */
const otherAccount = { project: '7f8b4a06-2c55-4c1f-8d0e-6f2f0a9b1c3e', token: 'the-token-of-another-account' }
/** The projects of these clouds are numbers. */
const otherNumber = { ...otherAccount, project: '999' }
export const otherCaller = 'other'

/** The nodes, if the cloud routes each address to one of them; otherwise none. */
export type ArenaNodes = {
  names: string[]
  /** Makes a healthy node fail, or a failed one recover. */
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
  /** The ids of the reservations that another cluster of the project, or an operator, has ordered. */
  ordered: string[]
  /** How many addresses are warm at rest. */
  warmPool: number
  /** Whether people make mistakes with kubectl. */
  isCareless: boolean
  /** The reservation of the ElasticIP that an operator provisions, once it is ordered. */
  office: { id?: string | undefined; order?: Promise<{ id: string } | undefined> | undefined }
  /** The addresses of another program of the project by their reservations, and its server. */
  strangers: { held: Map<string, string>; machine?: string | undefined }
  logs: string
  close(isGood: boolean): Promise<void>
}

// These times are so short that the wait for a killed process, or for a Service that is never stored, takes seconds.
// Calls still succeed within them on a busy machine.
const flags = [
  '--cloud-timeout=3s',
  '--unbound-grace=3s',
  '--sweep-interval=1s',
  '--webhook-probe-interval=1s',
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
]

/** A cluster with two replicas of the product, one without webhooks, and an operator's client. */
export async function openArena(dialect: DialectName, kind: Pick<Arena, 'warmPool' | 'isCareless'>): Promise<Arena> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-chaos-'))
  // A cloud that routes addresses to nodes has both families.
  const serviceRanges = ['10.96.0.0/16', ...(hasBgp(dialect) ? [] : ['fd00:96::/112'])]
  const other = ['cherry-servers', 'hetzner'].includes(dialect) ? otherNumber : otherAccount
  const account = await dialects[dialect].open({ other })
  const stage = await setStage({ dir, dialect, account, env: unlimited, serviceRanges })
  const client = connect(kubeconfig({ file: stage.controlPlane.kubeconfig }), { userAgent: 'chaos', timeoutMs: 20_000 })
  const pool = `--warm-pool=${kind.warmPool}`
  const replicas = [
    replica(stage, 'both', { other, flags: [pool] }),
    replica(stage, 'controllers', { other, flags: [pool, '--only=controllers'] }),
  ]
  for (const one of replicas) await one.start()
  const nodes = await joinNodes({ client, cloud: stage.cloud }, hasBgp(dialect) ? [] : ['node-a', 'node-b', 'node-c'])
  return {
    stage,
    client,
    replicas,
    nodes,
    ordered: [],
    ...kind,
    office: {},
    strangers: { held: new Map() },
    logs: join(dir, 'logs'),
    async close(isGood) {
      await stage.stop()
      await account.cloud.close()
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

type ReplicaOptions = { other: typeof otherAccount; flags: string[] }

function replica(stage: Arena['stage'], name: string, { other, flags: more }: ReplicaOptions): Replica {
  let product: Product | undefined
  let isMistaken = false
  const start = async (mistake?: Mistake) => {
    const { here, loadBalancer } = dialectOf(stage.dialect)
    // The machines do not exist, so no probe may be sent to their addresses.
    const assigned = hasBgp(stage.dialect) ? {} : { [loadBalancer]: 'assign:///?probe=off' }
    isMistaken = mistake !== undefined
    const access =
      mistake?.kind === 'other account' ? dialects[stage.dialect].env({ url: stage.cloud.url, ...other }) : {}
    const clock = mistake?.kind === 'clock' ? clockAhead(mistake.aheadMs) : {}
    product = await stage.serve({ env: { ...access, ...here, ...assigned, ...clock }, flags: [...flags, ...more] })
  }
  const kill = async () => void (await product?.stop('SIGKILL'))
  const isRunning = () => product?.isRunning() ?? false
  return {
    name,
    start,
    kill,
    isRunning,
    async recover() {
      if (isMistaken) await kill()
      if (!isRunning()) await start()
    },
    async health(path) {
      if (!product) throw new Error(`${name} was not started`)
      return product.health(path)
    },
  }
}

/** The environment of a process whose machine has a wrong time. */
function clockAhead(ms: number): Record<string, string> {
  const code =
    'globalThis.Date = class extends Date { ' +
    `constructor(...given) { given.length > 0 ? super(...given) : super(new.target.now()) } ` +
    `static now() { return super.now() + ${ms} } }`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
}
