// A cluster in memory, with a predecessor and a process of ours that act whenever somebody waits.
import { setImmediate as turn } from 'node:timers/promises'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { bgpAdvertisements, bgpPeers, ipAddressPools, isPool } from '../../../announcers/metallb/resources.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Clock } from '../../../kube/clock.ts'
import type { KubeObject, Lease, Service } from '../../../kube/objects.ts'
import {
  type Resource,
  leases,
  mutatingWebhookConfigurations,
  services,
  validatingWebhookConfigurations,
} from '../../../kube/resource.ts'
import { deployments, pods } from '../../../kube/workloads.ts'
import { resourceOf } from '../../../manifests/resources.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { webhookIdentities } from '../../../webhooks/webhook.ts'
import { probeAnnotation } from '../../../webhooks/webhook-probe.ts'
import { missingFrom } from '../../../lib/json.ts'
import { elasticIPDefinition } from '../../../manifests/elastic-ip-crd.ts'
import { names } from '../../../settings/installed-names.ts'
import type { PlannedService, TakeoverPlan } from '../../../commands/takeover/plan/plan.ts'
import type { StoppableWorkload } from '../../../commands/takeover/workloads.ts'
import { marks } from '../../announcers/cluster.ts'
import { objectsOf } from '../../announcers/predecessors.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { mergePatched } from '../../fakes/merge-patch.ts'

export const upstream = 'service.kubernetes.io/load-balancer-cleanup'
export const finalizer = 'eip-admission.dev/address-cleanup'
const shown = 'eip-admission.dev/address'
const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' }
const at = { namespace: 'kube-system', name: 'cloud-provider-equinix-metal' }
const stoppable = deployments as unknown as Resource<StoppableWorkload>
const routers = ['169.254.255.1', '169.254.255.2']
/** `machine`: the name of the machine of node-a, as its programs see it. */
type Options = { hasWebhook?: boolean; nodeNames?: string[]; elects?: boolean; machine?: string }

export type World = ReturnType<typeof world>

export function world(options: Options = {}) {
  const { hasWebhook = false, nodeNames = ['node-a', 'node-b'], elects = true, machine = 'node-a' } = options
  const theirIdentity = `${machine}_5c1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711`
  const api = apiServer({
    // MetalLB's webhook: no two pools overlap.
    invalid(_before, after) {
      if (!hasWebhook || !isPool(after)) return undefined
      const others = api.stored(ipAddressPools).filter(({ metadata }) => metadata.name !== after.metadata.name)
      const taken = after.spec.addresses.find((one) => others.some(({ spec }) => spec.addresses.includes(one)))
      if (taken === undefined) return undefined
      return `CIDR "${taken}" in pool "${after.metadata.name}" overlaps with already defined CIDR "${taken}"`
    },
  })
  const watching: (() => void)[] = []
  /** `isReady`: our webhooks answer. `lacks`: whoever asks may do nothing. `overlaps`: how often both programs acted. */
  const state = {
    isOurs: false,
    isReady: true,
    lacks: false,
    kills: Infinity,
    writes: 0,
    nowMs: 0,
    overlaps: 0,
    runsUntilMs: 0,
    leadsSinceMs: 0,
  }
  /** The kind of each call of the command, by whether it writes. */
  const calls = { reads: [] as string[], writes: [] as string[] }
  const all: Service[] = ['web', 'api'].map((name, n) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name, uid: `u-${name}`, finalizers: [upstream] },
    spec: { type: 'LoadBalancer', loadBalancerIP: `198.51.100.${7 + n}` },
    status: { loadBalancer: { ingress: [{ ip: `198.51.100.${7 + n}` }] } },
  }))
  for (const service of all) api.put(services, service)
  for (const name of nodeNames) {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      spec: {},
    }
    api.put({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }, node)
  }
  const theirs = objectsOf('CPEM 3.8', {
    nodes: nodeNames.map((name, n) => ({ name, address: `10.0.0.${n}` })),
    routers,
    localAsn: 65000,
    peerAsn: 65530,
    password: 'Secret12345abc',
    services: all.map(({ metadata, spec }) => ({ name: metadata.name, address: spec.loadBalancerIP ?? '' })),
  })
  const resources: Record<string, Resource<KubeObject>> = {
    BGPPeer: bgpPeers,
    IPAddressPool: ipAddressPools,
    BGPAdvertisement: bgpAdvertisements,
  }
  const resourceFor = (kind: string) => resources[kind] ?? bgpPeers
  for (const object of theirs) {
    const resource = resourceFor(object.kind)
    api.put(resource, { ...object, apiVersion: resource.apiVersion })
  }
  const programs = () => api.stored(stoppable)
  const addProgram = (name: string, replicas: number) =>
    void api.put(stoppable, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: at.namespace, name },
      spec: { replicas, selector: { matchLabels: { app: 'ccm' } } },
      status: { readyReplicas: replicas },
    })
  addProgram(at.name, 1)
  const podAt = { namespace: at.namespace, name: 'ccm-1' }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...podAt, labels: { app: 'ccm' } } }
  api.put(pods, { ...pod, spec: { hostNetwork: true, nodeName: 'node-a' } })

  const holder = (): Lease | undefined => api.stored(leases).find(({ metadata }) => metadata.name === lease.name)
  const hold = (holderIdentity: string) => {
    const now = new Date().toISOString().replace('Z', '000Z')
    const spec = { holderIdentity, leaseDurationSeconds: 15, renewTime: now, acquireTime: String(state.nowMs) }
    api.put(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec })
  }
  if (elects) hold(theirIdentity)

  let seen = { text: '', atMs: 0 }
  /** Whether nobody renewed the lease for as long as it says: by then every contender may claim it. */
  const hasExpired = () => {
    const text = JSON.stringify(holder()?.spec)
    if (text !== seen.text) seen = { text, atMs: state.nowMs }
    return state.nowMs - seen.atMs >= 1_000 * (holder()?.spec?.leaseDurationSeconds ?? 0)
  }

  /** A moment in which both programs run. */
  const tick = () => {
    for (const program of programs())
      api.put(stoppable, { ...program, status: { readyReplicas: program.spec?.replicas ?? 1 } })
    const isRunning = programs().some(({ spec }) => spec?.replicas !== 0)
    const of = holder()?.spec?.holderIdentity ?? ''
    if (elects && isRunning && (of === '' || of.startsWith(`${machine}_`))) hold(theirIdentity)
    if (isRunning) api.put(pods, { ...pod, spec: { hostNetwork: true, nodeName: 'node-a' } })
    else api.drop(pods, podAt)
    if (isRunning) state.runsUntilMs = state.nowMs
    const isFree = of === '' || hasExpired()
    if (!state.isOurs) return
    if (isFree) hold('ours_0123456789ab')
    if (isFree) state.leadsSinceMs = state.nowMs
    if (of === 'ours_0123456789ab') adopt()
    if (isRunning && !elects && holder()?.spec?.holderIdentity === 'ours_0123456789ab') state.overlaps += 1
  }
  const adopt = () => {
    for (const service of api.stored(services)) {
      const { namespace = '', name, uid = '', finalizers = [] } = service.metadata
      const address = service.spec.loadBalancerIP ?? ''
      const more = { finalizers: [...new Set([...finalizers, finalizer])], annotations: { [shown]: address } }
      api.put(services, { ...service, metadata: { ...service.metadata, ...more } })
      api.put(elasticIPs, {
        apiVersion: 'eip-admission.dev/v1alpha1',
        kind: 'ElasticIP',
        metadata: { name: `${namespace}.${name}`, finalizers: ['eip-admission.dev/reservation-cleanup'] },
        spec: { claimRef: { namespace, name, uid }, reclaimPolicy: 'Delete' },
        status: { phase: 'Bound', address, reservationID: `r-${name}` },
      })
    }
    announce()
  }
  const announce = () => {
    const options = { ...marks, passwordSecret: names.bgpSecret, peerMode: 'native' as const }
    const existing = Object.values(resources).flatMap((resource) => api.stored(resource))
    const addresses = api.stored(services).map(({ metadata, spec }) => ({
      address: spec.loadBalancerIP ?? '',
      services: [`default/${metadata.name}`],
    }))
    const nodes = nodeNames.map((node, n) => ({
      node,
      hostname: node,
      peers: routers.map((peerAddress) => ({
        localAsn: 65000,
        peerAsn: 65530,
        peerAddress,
        sourceAddress: `10.0.0.${n}`,
        isMultihop: true,
        password: { reveal: () => 'Secret12345abc' },
      })),
    }))
    for (const { object } of metallbObjects(options).objects({ addresses, nodes }, existing).wanted) {
      const before = existing.find(
        ({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name,
      )
      const next = before ? mergePatched(before, missingFrom(before, object)) : object
      if (object.kind !== 'Secret') api.put(resourceFor(object.kind), next as KubeObject)
    }
  }

  const clock: Clock = {
    now: () => state.nowMs,
    date: () => new Date(),
    sleep: sleeper(
      (ms) => {
        state.nowMs = Math.max(state.nowMs, ms)
        for (const act of watching) act()
        tick()
      },
      () => state.nowMs,
    ),
  }
  /** The client of one run, which is killed at a write: no call succeeds from then on. */
  const client = (): KubeClient => {
    let isDead = false
    const intercepted = <A extends unknown[], R>(call: (...of: A) => Promise<R>, isWrite: boolean) => {
      return async (...of: A): Promise<R> => {
        calls[isWrite ? 'writes' : 'reads'].push((of[0] as Resource<KubeObject>).kind)
        if (isWrite && !isDead) {
          state.writes += 1
          isDead = state.writes === state.kills
        }
        if (isDead) throw new Error('killed')
        made.fail()
        const answer = await call(...of)
        if (isWrite) made.lose()
        return answer
      }
    }
    const apply: KubeClient['apply'] = async (resource, object) => {
      const { namespace, name } = object.metadata
      const patch = () => api.client.patch(resource, { namespace, name, patch: { merge: object } })
      if (await api.client.get(resource, { namespace, name })) return patch()
      // At a real API server an apply never meets a conflict of this kind.
      return api.client.create(resource, object as never).catch(patch)
    }
    return {
      get: intercepted(api.client.get.bind(api.client), false),
      list: intercepted(api.client.list.bind(api.client), false),
      create: intercepted(async (resource, object, options) => {
        if (resource.kind === 'SelfSubjectAccessReview') return { ...object, status: { allowed: !state.lacks } }
        const created = await api.client.create(resource, object, options)
        if (!options?.dryRun || !state.isReady) return created
        return { ...created, metadata: { ...created.metadata, annotations: { [probeAnnotation]: 'ours' } } }
      }, true) as KubeClient['create'],
      replace: intercepted(api.client.replace.bind(api.client), true),
      patch: intercepted(api.client.patch.bind(api.client), true),
      remove: intercepted(api.client.remove.bind(api.client), true),
      apply: intercepted(apply, true),
    }
  }
  const install = async () => {
    const hooks = {
      webhooks: webhookIdentities.map(({ name }) => ({ name, clientConfig: { url: 'https://192.0.2.1/' } })),
    }
    const metadata = { name: names.mutatingConfiguration }
    api.put(resourceOf(elasticIPDefinition), elasticIPDefinition)
    api.put(mutatingWebhookConfigurations, {
      ...hooks,
      apiVersion: mutatingWebhookConfigurations.apiVersion,
      kind: 'MutatingWebhookConfiguration',
      metadata,
    })
    api.put(validatingWebhookConfigurations, {
      ...hooks,
      apiVersion: validatingWebhookConfigurations.apiVersion,
      kind: 'ValidatingWebhookConfiguration',
      metadata,
    })
  }
  const made = {
    /** Throws where the API server does not answer. */
    fail: () => {},
    /** Throws where its answer to a write is lost. */
    lose: () => {},
    api,
    state,
    calls,
    clock,
    client,
    install,
    lease,
    plan: () => planOf(api.stored(services), api, elects),
    holder,
    hold,
    hasWebhooks: () => api.stored(mutatingWebhookConfigurations).length > 0,
    workload: () => programs()[0],
    /** The replicas of each workload of the predecessor. */
    replicas: () => Object.fromEntries(programs().map(({ metadata, spec }) => [metadata.name, spec?.replicas])),
    addProgram,
    tick,
    /** Acts as another program whenever time passes. */
    onTick: (act: () => void) => void watching.push(act),
    resources,
  }
  return made
}

function planOf(all: Service[], api: ReturnType<typeof apiServer>, elects: boolean): TakeoverPlan {
  return {
    formatVersion: 1,
    cluster: { id: '', server: '' },
    predecessor: {
      id: 'equinix-metal',
      title: 'CPEM',
      workloads: api.stored(stoppable).map(({ metadata: { namespace = '', name }, spec: { replicas = 1 } = {} }) => {
        const more = { kind: 'Deployment', image: '', version: undefined } as const
        return { ...more, namespace, name, replicas, isRunning: replicas > 0 }
      }),
      lease: { ...lease, isUsed: elects, holder: api.stored(leases)[0]?.spec?.holderIdentity },
    },
    target: { namespace: 'eip-admission', leaseNamespace: lease.namespace, leaseName: lease.name },
    settings: {
      cloudProvider: 'equinixmetal',
      flags: {},
      source: undefined,
      secret: { namespace: '', name: '', key: '', fields: [], how: 'copy' },
      values: '',
    },
    services: all.map(plannedService),
    reservations: [],
    nodes: [],
    announcer: { name: 'metallb', objects: [], waves: 0 },
    blockers: [],
    warnings: [],
  }
}

function plannedService({ metadata, spec }: Service): PlannedService {
  const { namespace = '', name, uid = '' } = metadata
  const before = spec.loadBalancerIP
  const more = {
    held: 'reserved',
    finalizers: [upstream],
    shownIn: ['spec.loadBalancerIP', 'status.loadBalancer'],
  } as const
  return { namespace, name, uid, before, after: before, ...more, shownIn: [...more.shownIn], finalizers: [upstream] }
}

/** The turns in which every call of a run to the API server in memory has its answer. */
const restTurns = 30

/**
 * Sleeps of runs that share one clock. Its time passes only while all of them sleep, up to the earliest end. Otherwise a run
 * that sleeps often would make the lease of a busy one expire.
 */
function sleeper(setTime: (ms: number) => void, now: () => number): Clock['sleep'] {
  const sleeping: { untilMs: number; wake: () => void }[] = []
  let isPassing = false
  const pass = async () => {
    if (isPassing) return
    isPassing = true
    while (sleeping.length > 0) {
      for (let n = 0; n < restTurns; n += 1) await turn()
      const [first] = sleeping.toSorted((one, other) => one.untilMs - other.untilMs)
      if (!first) break
      sleeping.splice(sleeping.indexOf(first), 1)
      setTime(first.untilMs)
      first.wake()
    }
    isPassing = false
  }
  return (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const one = { untilMs: now() + ms, wake: resolve }
      sleeping.push(one)
      signal?.addEventListener('abort', () => {
        const at = sleeping.indexOf(one)
        if (at >= 0) sleeping.splice(at, 1)
        resolve()
      })
      void pass()
    })
}
