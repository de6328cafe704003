// A cluster as a predecessor leaves it, with the predecessor simulated: its workload, its lease, and what it wrote.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from '../../announcers/metallb/resources.ts'
import { systemClock } from '../../kube/clock.ts'
import { leaseRecord } from '../../kube/lease.ts'
import { type KubeObject, type Service, keyOf } from '../../kube/objects.ts'
import { leases, services } from '../../kube/resource.ts'
import type { PlannedService, TakeoverPlan } from '../../commands/takeover/plan/plan.ts'
import { type StoppableWorkload, readWorkloads } from '../../commands/takeover/workloads.ts'
import { objectsOf } from '../announcers/predecessors.ts'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { metallbView } from '../whole/metallb-view.ts'
import { ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import type { TestStage } from '../whole/test-stage.ts'
import { dialect } from './dialect.ts'

const { password, provider, source } = dialect.bgp
const metallbNamespace = 'metallb-system'
export const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const workload = { kind: 'Deployment', namespace: 'kube-system', name: 'cloud-provider-equinix-metal' } as const
const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' }
const podLabels = { app: 'cloud-provider-equinix-metal' }
const customResources = 'metallb:///metallb-system?crdConfiguration=true'

/** The settings of the product that takes over. */
export const settings = {
  ...dialect.here,
  ...(password && { [password.setting]: password.value }),
  [dialect.loadBalancer]: customResources,
}

/**
 * Makes nodes with their sessions, as a predecessor leaves them: our program writes them, and its other traces are
 * removed.
 */
export async function leaveMachines(stage: TestStage): Promise<{ name: string; address: string }[]> {
  const product = await stage.startSwept({ env: { ...settings, [dialect.loadBalancer]: 'empty://' } })
  const { startNode, seen } = simulatedNodes(stage)
  const machines = []
  for (const name of ['node-a', 'node-b']) {
    machines.push({ name, address: ipOf(await startNode(name), 4, source) })
    await seen('its sessions are written', name, (node) =>
      Object.keys(node?.metadata.annotations ?? {}).some((one) => one.startsWith(dialect.prefix)),
    )
  }
  await product.stop()
  await stage.run('delete', 'secret', 'eip-admission-peers', '-n', 'eip-admission', '--ignore-not-found')
  await stage.run('delete', 'configmap', 'eip-admission-ledger', '-n', 'eip-admission', '--ignore-not-found')
  return machines
}

/** Nodes with BGP, Services with reservations, and MetalLB's objects, all as the predecessor leaves them. */
export async function setScene(stage: TestStage, names: readonly string[]): Promise<Map<string, string>> {
  await stage.run('create', 'namespace', metallbNamespace)
  await metallbView(stage, '0.16.1').install()
  const machines = await leaveMachines(stage)
  const addresses = new Map<string, string>()
  for (const name of names) addresses.set(name, await served(stage, name))
  const items = objectsOf('CPEM 3.8', {
    nodes: machines,
    routers: provider.routers,
    localAsn: provider.machines.asn,
    peerAsn: provider.asn,
    password: password?.value,
    services: [...addresses].map(([name, address]) => ({ name, address })),
  }).map((object) => (object.kind === 'BGPPeer' ? { ...object, apiVersion: 'metallb.io/v1beta2' } : object))
  const list = { apiVersion: 'v1', kind: 'List', items: [...items, deployment] }
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], list)
  if (code !== 0) throw new Error(stderr)
  return addresses
}

async function served(stage: TestStage, name: string): Promise<string> {
  const cluster = `cluster=${await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
  const { address } = await stage.order([dialect.usage, serviceTag(dialect, `default/${name}`), cluster])
  await stage.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
  await stage.run('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers: [upstream] } }))
  await show(stage, name, address)
  return address
}

/** Writes the status as MetalLB does. */
async function show(stage: TestStage, name: string, address: string): Promise<void> {
  const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: address }] } } })
  await stage.run('patch', 'service', name, '--subresource=status', '--type=merge', '-p', status)
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: workload.name, namespace: workload.namespace, labels: podLabels },
  spec: {
    replicas: 1,
    selector: { matchLabels: podLabels },
    template: {
      metadata: { labels: podLabels },
      spec: { containers: [{ name: 'ccm', image: 'quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1' }] },
    },
  },
}

/** Runs the predecessor's pod while the workload has a replica: it renews the lease, and never releases it. */
export function startPredecessor(stage: TestStage): { stop: () => Promise<void> } {
  const { client } = stage
  const over = new AbortController()
  let record: ReturnType<typeof leaseRecord> | undefined
  const turn = async () => {
    const { spec, status } = (await readWorkloads(client, [workload]))[0] ?? ({} as StoppableWorkload)
    const ready = spec?.replicas ? 1 : 0
    if ((status?.readyReplicas ?? 0) !== ready) {
      const patch = JSON.stringify({ status: { replicas: ready, readyReplicas: ready } })
      const of = ['deployment', workload.name, '-n', workload.namespace, '--subresource=status']
      await stage.run('patch', ...of, '--type=merge', '-p', patch)
    }
    record = ready
      ? (record ??= leaseRecord({
          client,
          lease,
          identity: `node-a_${randomUUID()}`,
          leaseDurationMs: 2_000,
          callTimeoutMs: 5_000,
          clock: systemClock,
        }))
      : undefined
    await record?.claim()
  }
  const loop = (async () => {
    while (!over.signal.aborted) {
      await turn().catch(() => {})
      await systemClock.sleep(500, over.signal)
    }
  })()
  return {
    async stop() {
      over.abort()
      await loop
    },
  }
}

/** Waits until the simulated predecessor leads. */
export async function predecessorLeads({ client }: TestStage): Promise<void> {
  await eventually('the predecessor leads', async (observe) => {
    const holder = observe((await client.get(leases, lease))?.spec?.holderIdentity)
    return holder?.startsWith('node-a_') || undefined
  })
}

/** The plan for the scene, as `takeover plan` makes it. */
export async function planFor(stage: TestStage): Promise<TakeoverPlan> {
  const { items } = await stage.client.list<Service>(services)
  const planned = items.filter(({ spec }) => spec.type === 'LoadBalancer').map(plannedService)
  const stored = (await readWorkloads(stage.client, [workload]))[0]
  return {
    formatVersion: 1,
    cluster: { id: '', server: '' },
    predecessor: {
      id: 'equinix-metal',
      title: "Equinix Metal's cloud provider (CPEM)",
      workloads: [
        {
          ...workload,
          image: 'cloud-provider-equinix-metal:v3.8.1',
          version: '3.8.1',
          replicas: stored?.spec?.replicas ?? 0,
          isRunning: stored?.spec?.replicas !== 0,
        },
      ],
      lease: { ...lease, isUsed: true, holder: undefined },
    },
    target: { namespace: 'eip-admission', leaseNamespace: lease.namespace, leaseName: lease.name },
    settings: {
      cloudProvider: 'equinixmetal',
      flags: { '--loadbalancer': customResources },
      source: undefined,
      secret: { namespace: 'eip-admission', name: 'none', key: 'none', fields: [], how: 'copy' },
      values: '',
    },
    services: planned,
    reservations: [],
    nodes: [],
    announcer: { name: 'metallb', objects: [], waves: 0 },
    blockers: [],
    warnings: [],
  }
}

function plannedService(service: Service): PlannedService {
  const { namespace = '', name, uid = '', finalizers = [] } = service.metadata
  const address = service.spec.loadBalancerIP
  const held = address === undefined ? 'pending' : 'reserved'
  const kept = finalizers.filter((one) => one === upstream)
  const shownIn = address === undefined ? [] : ['spec.loadBalancerIP', 'status.loadBalancer']
  return { namespace, name, uid, before: address, after: address, held, finalizers: kept, shownIn }
}

export type Ran = { code: number | null; output: string }

/** Runs `apply` or `undo` as a process of its own, and sends it a signal when it prints a text. */
export async function runTakeover(
  stage: TestStage,
  command: 'apply' | 'undo',
  {
    plan,
    flags = [],
    at,
    seen,
    lockMs = 3_000,
  }: {
    plan?: TakeoverPlan
    flags?: string[]
    at?: { text: string; signal: NodeJS.Signals }
    /** Called with the output of the process so far. */
    seen?: (output: string, child: ChildProcess) => void
    /** The lock time: each killed run keeps the next one waiting this long. */
    lockMs?: number
  } = {},
): Promise<Ran> {
  const file = join(stage.dir, 'plan.json')
  if (plan) writeFileSync(file, JSON.stringify(plan))
  const script = join(import.meta.dirname, 'takeover-command.ts')
  const all = [`--kubeconfig=${stage.controlPlane.kubeconfig}`, '--patience=300s', ...flags]
  const child = spawn(process.execPath, [script, command, file, ...all], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LOCK_MS: String(lockMs), WEBHOOK_URL: stage.webhookUrl },
  })
  let output = ''
  let isSent = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      seen?.(output, child)
      if (!at || isSent || !output.includes(at.text)) return
      // A second signal would end it at once.
      isSent = true
      child.kill(at.signal)
    })
  }
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, output }
}

/** MetalLB's objects without what the API server adds, by kind and name. */
export async function metallbObjects({ client }: TestStage): Promise<Record<string, unknown>> {
  const kinds = [bgpPeers, ipAddressPools, bgpAdvertisements]
  const lists = await Promise.all(kinds.map((kind) => client.list<KubeObject>(kind, { namespace: metallbNamespace })))
  const all = lists.flatMap(({ items }, n) => items.map((item) => ({ ...item, kind: kinds[n]?.kind ?? '' })))
  const plain = all.map(({ kind, metadata, ...more }) => {
    const { labels = {} } = metadata
    return [`${kind} ${metadata.name}`, { labels, spec: 'spec' in more ? more.spec : {} }] as const
  })
  return Object.fromEntries(plain.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The addresses, finalizers and our annotations of Services, by key. */
export async function serviceFacts({ client }: TestStage): Promise<Record<string, unknown>> {
  const { items } = await client.list<Service>(services)
  const all = items.filter(({ spec }) => spec.type === 'LoadBalancer')
  return Object.fromEntries(
    all.map((service) => {
      const { finalizers = [], annotations = {} } = service.metadata
      const ours = Object.keys(annotations).filter((name) => name.startsWith('eip-admission.dev/'))
      return [keyOf(service), { address: service.spec.loadBalancerIP, finalizers, ours }]
    }),
  )
}

/** Waits until the workload has this many replicas. */
export async function hasReplicas({ client }: TestStage, replicas: number): Promise<void> {
  assert.is((await readWorkloads(client, [workload]))[0]?.spec?.replicas, replicas)
}
