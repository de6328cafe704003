import { KubeError, isConflict, isNotFound } from '../../kube/errors.ts'
import { namespaces, services } from '../../kube/resource.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import type { Fault } from '../../sandbox/clouds/faults.ts'
import { hasBgp } from '../../sandbox/dialect-names.ts'
import { dialectOf, reservationsIn, serviceTag } from '../whole/dialects.ts'
import {
  type Action,
  type Tally,
  chaosNamespaces,
  clusterTagOfOthers,
  forgerNamespace,
  manifest,
  names,
  orderIn,
  place,
  tenantNamespace,
} from './action.ts'
import type { Arena, Mistake, Replica } from './arena.ts'
import { ofAdministrators, ofCarelessPeople } from './people.ts'
import type { Random } from './random.ts'
import { ofStrangeNodes, ofStrangers } from './strangers.ts'
import { troubleOf } from './troubles.ts'

/** Faults of the cloud; each hits a few calls. */
function faultsOf({ stage }: Arena): Fault[] {
  const { moves, routes } = dialectOf(stage.dialect)
  const { reserve, list, release } = routes
  return [
    { on: reserve, answer: 'reset' },
    { on: reserve, answer: 'reset', done: true },
    { on: reserve, answer: 500 },
    { on: reserve, answer: 500, done: true },
    { on: reserve, answer: 502 },
    { on: reserve, answer: 'hang' },
    { on: reserve, answer: 'hang', done: true },
    { on: reserve, answer: 429 },
    { on: reserve, answer: 429, retryAfterSeconds: 1 },
    { on: reserve, answer: 422, message: 'quota reached' },
    { on: list, answer: 500 },
    { on: list, answer: 401 },
    { on: list, answer: 'empty-list' },
    { on: list, answer: 'short-pages', perPage: 2 },
    { on: list, answer: 'shuffled-list' },
    { on: list, answer: 'hang' },
    { on: release, answer: 'reset' },
    { on: release, answer: 'reset', done: true },
    { on: release, answer: 500, done: true },
    { on: release, answer: 'hang', done: true },
    { on: release, answer: 403 },
    { answer: 503 },
    ...(hasBgp(stage.dialect)
      ? []
      : moves.flatMap((on): Fault[] => [
          { on, answer: 'reset', done: true },
          { on, answer: 500 },
          { on, answer: 'hang', done: true },
          { on, answer: 429 },
        ])),
  ]
}

/** Changes a Service that may be deleted, or changed by another step at the same time. */
async function change({ client }: Arena, random: Random, merge: object): Promise<void> {
  await client.patch(services, { ...place(random), patch: { merge } })
}

const actions: Action[] = [
  {
    often: 30,
    name: 'create',
    run: async ({ client }, random) => void (await client.create(services, manifest(place(random), 'LoadBalancer'))),
  },
  { often: 18, name: 'delete', run: ({ client }, random) => client.remove(services, place(random)) },
  { often: 6, name: 'to ClusterIP', run: (arena, random) => change(arena, random, { spec: { type: 'ClusterIP' } }) },
  {
    often: 6,
    name: 'to LoadBalancer',
    run: (arena, random) => change(arena, random, { spec: { type: 'LoadBalancer' } }),
  },
  {
    often: 6,
    name: 'label',
    run: (arena, random) => change(arena, random, { metadata: { labels: { n: String(random.whole(1000)) } } }),
  },
  {
    often: 6,
    name: 'replace without our fields',
    run: async ({ client }, random) => {
      const stored = await client.get(services, place(random))
      if (!stored) return
      const { loadBalancerIP: _ip, ...spec } = stored.spec
      const { annotations: _annotations, finalizers: _finalizers, ...metadata } = stored.metadata
      await client.replace(services, { ...stored, metadata, spec })
    },
  },
  {
    often: 10,
    name: 'fault',
    run: async (arena, random, tally) => {
      const { stage } = arena
      const fault = random.pick(faultsOf(arena))
      stage.cloud.control.faults.add({ ...fault, times: 1 + random.whole(3) })
      tally.faults += 1
      tally.troubles.add(troubleOf(fault))
    },
  },
  {
    often: 4,
    name: 'slow cloud',
    run: async ({ stage }, random) => stage.cloud.control.latency.set({ ms: random.whole(400) }),
  },
  {
    often: 3,
    name: 'kill or start a replica',
    isAlone: true,
    run: async ({ replicas }, random, tally) => {
      const one = random.pick(replicas)
      if (!one.isRunning()) return one.start()
      tally.kills += 1
      tally.troubles.add('killed process')
      return one.kill()
    },
  },
  {
    often: 1,
    name: 'a replica starts with the Secret of another account',
    isAlone: true,
    run: async ({ replicas, stage, isCareless }, random, tally) => {
      // A token that decides the project is valid while the cluster has no address.
      if (['hetzner', 'phoenixnap'].includes(stage.dialect)) return
      // If careless people delete the ConfigMap of a cluster without records, nothing tells its account any more.
      if (isCareless) return
      tally.troubles.add('other account')
      await startAgain(random.pick(replicas), tally, { kind: 'other account' })
    },
  },
  {
    often: 1,
    name: 'a replica starts on a machine whose clock is wrong',
    isAlone: true,
    run: async ({ replicas }, random, tally) => {
      tally.troubles.add('wrong clock')
      const aheadMs = random.pick([-1, 1]) * random.whole(20) * 60_000
      await startAgain(random.pick(replicas), tally, { kind: 'clock', aheadMs })
    },
  },
  {
    often: 1,
    name: 'delete a namespace',
    run: async ({ client }, random) => client.remove(namespaces, { name: random.pick(chaosNamespaces) }),
  },
  {
    often: 3,
    name: 'a tenant requests every address',
    run: async ({ client, stage }, random) => {
      const all = reservationsIn(stage.dialect, stage.cloud.control).flatMap(({ address }) => address ?? [])
      if (all.length === 0) return
      const at = { namespace: tenantNamespace, name: random.pick(names) }
      await client.remove(services, at).catch(() => undefined)
      const { metadata, spec, ...service } = manifest(at, 'LoadBalancer')
      const annotations = { 'metallb.io/loadBalancerIPs': all.join() }
      const forged = random.happens(0.5) ? { [addressAnnotation]: random.pick(all) } : {}
      await client.create(services, {
        ...service,
        metadata: { ...metadata, annotations: { ...annotations, ...forged } },
        spec: { ...spec, loadBalancerClass: 'tenant/own' },
      })
    },
  },
  {
    often: 1,
    name: 'another cluster reserves an address for a Service of the same name',
    run: async ({ stage, ordered }, random) => {
      const { namespace, name } = place(random)
      const facts = dialectOf(stage.dialect)
      const tags = [facts.usage, clusterTagOfOthers, serviceTag(facts, `${namespace}/${name}`)]
      const made = await orderIn(stage, tags)
      if (made) ordered.push(made.id)
    },
  },
  {
    often: 1,
    name: 'restart the API server',
    isAlone: true,
    run: async ({ stage }, _random, tally) => {
      await stage.controlPlane.apiserver.stop()
      await stage.controlPlane.apiserver.start()
      tally.kills += 1
      tally.troubles.add('restarted API server')
    },
  },
]

async function startAgain(replica: Replica, tally: Tally, mistake: Mistake): Promise<void> {
  tally.kills += 1
  tally.troubles.add('killed process')
  await replica.kill()
  await replica.start(mistake)
}

/** Actions for clouds that route each address to one node, and have both families. */
const ofNodes: Action[] = [
  {
    often: 8,
    name: 'a node fails, or is well again',
    run: ({ nodes }, random, tally) => {
      tally.troubles.add('failed node')
      return nodes.toggle(random.pick(nodes.names))
    },
  },
  {
    often: 12,
    name: 'create with two families',
    run: async ({ client }, random) => {
      const { spec, ...service } = manifest(place(random), 'LoadBalancer')
      await client.create(services, { ...service, spec: { ...spec, ...random.pick(twoFamilies) } })
    },
  },
  {
    often: 8,
    name: 'to one family, or to two',
    run: (arena, random) => change(arena, random, { spec: random.pick([...twoFamilies, oneFamily]) }),
  },
]

const twoFamilies = [{ ipFamilyPolicy: 'RequireDualStack' }, { ipFamilyPolicy: 'PreferDualStack' }] as const
/** The API server keeps the first family. */
const oneFamily = { ipFamilyPolicy: 'SingleStack' } as const

/** Picks an action by its weight `often`. */
export function nextAction({ nodes, isCareless }: Arena, random: Random): Action {
  const people = [...ofAdministrators, ...(isCareless ? ofCarelessPeople : [])]
  const all = [
    ...actions,
    ...ofStrangers,
    ...people,
    ...(nodes.names.length > 0 ? [...ofNodes, ...ofStrangeNodes] : []),
  ]
  let left = random.whole(all.reduce((sum, { often }) => sum + often, 0))
  return all.find(({ often }) => (left -= often) < 0) ?? random.pick(all)
}

/** Recreates deleted namespaces, as soon as the API server allows it. */
export async function ensureNamespaces({ client }: Arena): Promise<void> {
  for (const name of [...chaosNamespaces, tenantNamespace, forgerNamespace]) {
    if (await client.get(namespaces, { name })) continue
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
}

/**
 * Whether a step may fail with this error: it is refused with a reason, or its object is deleted, exists or was
 * changed.
 */
export function isUsual(error: unknown): boolean {
  if (isNotFound(error) || isConflict(error)) return true
  return error instanceof KubeError && (error.reason === 'AlreadyExists' || isRefusal(error) || isTerminating(error))
}

export function isRefusal(error: unknown): boolean {
  return (
    error instanceof KubeError && /denied the request|gets no address|is the record of that Service/.test(error.message)
  )
}

function isTerminating({ message }: KubeError): boolean {
  return /being (terminated|deleted)|not found/.test(message)
}
