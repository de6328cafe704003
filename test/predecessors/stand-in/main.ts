// A stand-in for a predecessor: it writes what the real program writes, by the rules that we hold for it. Its flags are
// those of the real one. It is for machines that have no real one: the Go module proxy has none of the four.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { systemClock } from '../../../kube/clock.ts'
import { connect } from '../../../kube/connect.ts'
import { kubeconfig } from '../../../kube/kubeconfig.ts'
import { leaseRecord } from '../../../kube/lease.ts'
import type { Node, Service } from '../../../kube/objects.ts'
import { reflector } from '../../../kube/reflector.ts'
import { namespaces, nodes, services } from '../../../kube/resource.ts'
import { silentLog } from '../../fakes/log.ts'
import type { Predecessor } from '../../announcers/predecessors.ts'
import { cherryServers } from './cherry-servers.ts'
import type { SettingsFile } from './cloud.ts'
import { equinixMetal } from './equinix-metal.ts'
import { predecessorDocument } from './metallb-document.ts'
import { predecessorMetallb } from './metallb.ts'
import { initialize, removeIfGone } from './nodes.ts'
import { concerns, serving, syncService, updateNodes } from './services.ts'

const { values: flags } = parseArgs({
  options: {
    writes: { type: 'string', default: 'CPEM 3.8' },
    kubeconfig: { type: 'string', default: '' },
    'cloud-config': { type: 'string', default: '' },
    'cloud-provider': { type: 'string' },
    'leader-elect': { type: 'string', default: 'true' },
    'authentication-skip-lookup': { type: 'string' },
  },
})

/** The delays of client-go: how long a lease holds, how often it is renewed, and when a failed key is tried again. */
const leaseDurationMs = 15_000
const renewEveryMs = 2_000
const retryMs = 5_000

const predecessor = flags.writes as Predecessor
const settings = JSON.parse(readFileSync(flags['cloud-config'], 'utf8')) as SettingsFile
const client = connect(kubeconfig({ file: flags.kubeconfig }), { userAgent: 'cloud-controller-manager' })
const log = (text: string) => console.error(`${new Date().toISOString()} ${text}`)

/** Claims the lease, and renews it until the process ends. Like the real ones it never releases it. */
async function lead(): Promise<void> {
  const record = leaseRecord({
    client,
    lease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
    identity: `${hostname()}_${randomUUID()}`,
    leaseDurationMs,
    callTimeoutMs: 10_000,
    clock: systemClock,
  })
  while (!(await record.claim().catch(() => false))) await sleep(renewEveryMs)
  log('became leader')
  setInterval(() => {
    record.claim().then(
      (isOurs) => {
        if (!isOurs) throw new Error('leaderelection lost')
      },
      (error: Error) => log(`failed to renew the lease: ${error.message}`),
    )
  }, renewEveryMs)
}

/** A worker, as the service controller has; a key that fails is tried again later. */
function worker() {
  let last: Promise<void> = Promise.resolve()
  const waiting = new Set<string>()
  const add = (key: string, work: () => Promise<void>) => {
    if (waiting.has(key)) return
    waiting.add(key)
    last = last.then(async () => {
      waiting.delete(key)
      try {
        await work()
        log(`synced ${key}`)
      } catch (error) {
        log(`failed ${key}: ${(error as Error).message}`)
        setTimeout(() => add(key, work), retryMs)
      }
    })
  }
  return add
}

async function run(): Promise<void> {
  const cloud = predecessor.startsWith('Cherry') ? cherryServers(settings) : equinixMetal(settings)
  const system = await client.get(namespaces, { name: 'kube-system' })
  await cloud.enableProject()
  const seenNodes = reflector<Node>({ client, resource: nodes, log: silentLog })
  const seenServices = reflector<Service>({ client, resource: services, log: silentLog })
  const hasObjects = predecessor.startsWith('Cherry') || settings.loadbalancer.includes('crdConfiguration=true')
  const metallb = hasObjects ? predecessorMetallb(client, predecessor) : predecessorDocument(client)
  const cluster = system?.metadata.uid ?? ''
  const software = settings.loadbalancer.startsWith('metallb:') ? 'metallb.io' : 'cherryservers.com'
  const requestAnnotation = predecessor.startsWith('Cherry') ? `${software}/loadBalancerIPs` : undefined
  const deps = { predecessor, client, cloud, metallb, cluster, requestAnnotation, nodes: () => seenNodes.list() }
  const addService = worker()
  const addNode = worker()

  // The facts that count for it: annotations, spec and the end of a Service. A status alone is no news.
  const newsOf = (service: Service | undefined) =>
    service &&
    JSON.stringify([
      service.spec,
      service.metadata.annotations,
      service.metadata.deletionTimestamp,
      service.metadata.uid,
    ])
  seenServices.onChange((key, current, previous) => {
    if (!current || !concerns(current) || newsOf(current) === newsOf(previous)) return
    const { namespace = '', name } = current.metadata
    addService(`service ${key}`, () => syncService(deps, { namespace, name }))
  })
  let served = ''
  const followNodes = () => {
    const now = serving(seenNodes.list())
      .map(({ metadata }) => metadata.name)
      .toSorted((one, other) => (one < other ? -1 : 1))
      .join()
    if (now === served) return
    served = now
    const balanced = seenServices.list().filter((one) => concerns(one) && one.spec.type === 'LoadBalancer')
    for (const one of balanced) addService(`nodes of ${one.metadata.name}`, () => updateNodes(deps, one))
  }
  seenNodes.onChange((key, current) => {
    if (current) addNode(`node ${key}`, () => initialize(client, cloud, current))
    followNodes()
  })
  const { signal } = new AbortController()
  seenNodes.start(signal)
  await seenNodes.synced()
  seenServices.start(signal)
  for (;;) {
    await sleep(retryMs)
    for (const node of seenNodes.list())
      addNode(`life of ${node.metadata.name}`, () => removeIfGone(client, cloud, node))
  }
}

if (flags['leader-elect'] === 'true') await lead()
await run()
