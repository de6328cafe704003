import { listAllKnown } from '../../controllers/announcing/list-known.ts'
import { nothingToAnnounce } from '../../controllers/announcing/configurator.ts'
import { configureObjects } from '../../controllers/announcing/configure-objects.ts'
import { isOurs, isWritten } from '../../announcers/metallb/ownership.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { isConflict, isNotFound } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import { type KubeObject, type Service, keyOf } from '../../kube/objects.ts'
import {
  mutatingWebhookConfigurations,
  nodes,
  secrets,
  services,
  validatingWebhookConfigurations,
} from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs, recordFinalizer } from '../../ledger/record/elastic-ip.ts'
import { mapAll } from '../../lib/map-all.ts'
import { names } from '../../manifests/names.ts'
import { type Found, marksOf, metallbKinds, predecessorNamed } from './found.ts'
import { type UndoFacts, predecessorConfiguration, wantedObjects } from './predecessor-objects.ts'
import { planChanges } from '../../controllers/announcing/plan-changes.ts'
import type { Step } from './steps.ts'
import { isMarked, undoPatch } from './undo-service.ts'
import { writePools } from './write-pools.ts'

type Deps = { client: KubeClient; found: Found; check: () => void; signal: AbortSignal; clock: Clock }

const writesAtOnce = 8

/** Removes our webhook configurations: without our process they would only delay every request. */
export function webhooksStep(client: KubeClient): Step {
  const all = [
    { resource: mutatingWebhookConfigurations, name: names.mutatingConfiguration },
    { resource: validatingWebhookConfigurations, name: names.validatingConfiguration },
  ]
  return {
    name: 'webhooks',
    title: 'Remove the webhook configurations',
    async missing() {
      const there = await Promise.all(all.map(({ resource, name }) => client.get(resource, { name })))
      const count = there.filter((one) => one !== undefined).length
      return count === 0 ? undefined : { text: `${count} webhook configurations are left` }
    },
    async act() {
      for (const { resource, name } of all) await client.remove(resource, { name })
    },
  }
}

/** Gives the objects of MetalLB the names and fields that the predecessor expects, without an address without a way. */
export function metallbStep(deps: Deps): Step {
  const { client, found, signal, check, clock } = deps
  return {
    name: 'metallb',
    title: 'Give the objects of MetalLB back',
    async missing() {
      const facts = await undoFacts(client, found)
      if (!facts) return undefined
      const existing = await readObjects(client, facts.namespace)
      const plan = planChanges(predecessorConfiguration(facts), existing, wantedObjects(existing, facts))
      const changes = [...plan.first.flat(), ...plan.waves.flat(2), ...plan.last]
      const waves = plan.waves.length
      if (changes.length === 0) return undefined
      return { text: `${changes.length} objects are left${waves > 0 ? `, in ${waves} waves of sessions` : ''}` }
    },
    async act() {
      const facts = await undoFacts(client, found)
      if (!facts) return
      await writePools(client, facts, clock)
      // One runner for all waves: it leaves sessions time to come up between them.
      const configurator = configureObjects({
        client,
        configuration: predecessorConfiguration(facts),
        now: () => clock.now(),
      })
      for (let isUnfinished = true; isUnfinished && !signal.aborted;) {
        check()
        const result = await configurator.carryOut(nothingToAnnounce, signal)
        const [refused] = result.problems
        if (refused) throw new Error(`MetalLB refuses an object of the predecessor: ${refused.message}`)
        isUnfinished = result.isUnfinished ?? false
        if (isUnfinished) await clock.sleep(250, signal)
      }
    },
  }
}

/** Gives every Service the predecessor's finalizer, and takes away what we wrote. */
export function servicesStep({ client, found, check }: Deps): Step {
  const { finalizers } = predecessorNamed(found.predecessor)
  const marked = async () => (await listAll(client, services)).filter(isMarked)
  return {
    name: 'services',
    title: 'Give the Services back',
    async missing() {
      const { length } = await marked()
      return length === 0 ? undefined : { text: `${length} Services are left` }
    },
    async act() {
      const all = await marked()
      await mapAll(all, (service) => giveBack(client, { service, finalizers, check }), writesAtOnce)
    },
  }
}

type GivingBack = { service: Service; finalizers: readonly string[]; check: () => void }

async function giveBack(client: KubeClient, { service, finalizers, check }: GivingBack): Promise<void> {
  check()
  const merge = undoPatch(service, finalizers)
  const { namespace, name } = service.metadata
  // Somebody else wrote it meanwhile, or it is gone: the next look decides anew.
  if (merge) await client.patch(services, { namespace, name, patch: { merge } }).catch(unlessRace)
}

/** Removes our records and leaves their reservations alone: no process of ours runs that would release them. */
export function recordsStep({ client, check }: Deps): Step {
  return {
    name: 'records',
    title: 'Remove the ElasticIPs, and leave their reservations',
    async missing() {
      const { length } = await knownRecords(client)
      return length === 0 ? undefined : { text: `${length} ElasticIPs are left` }
    },
    async act() {
      await mapAll(
        await knownRecords(client),
        async (record) => {
          check()
          await forget(client, record)
        },
        writesAtOnce,
      )
    },
  }
}

async function forget(client: KubeClient, { metadata }: ElasticIP): Promise<void> {
  const { name, uid, resourceVersion, finalizers = [] } = metadata
  const merge = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== recordFinalizer) } }
  try {
    await client.patch(elasticIPs, { name, patch: { merge } })
    await client.remove(elasticIPs, { name, uid })
  } catch (error) {
    unlessRace(error)
  }
}

/** The records; none if the cluster does not know them. */
export function knownRecords(client: KubeClient): Promise<ElasticIP[]> {
  return listAllKnown(client, elasticIPs, {}) as Promise<ElasticIP[]>
}

function unlessRace(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error
}

/** Everything that decides about the objects of MetalLB; undefined where neither we nor the predecessor wrote any. */
async function undoFacts(client: KubeClient, found: Found): Promise<UndoFacts | undefined> {
  const namespace = found.metallb?.namespace ?? (await ownNamespace(client, found))
  if (namespace === undefined) return undefined
  const [all, allNodes, secret] = await Promise.all([
    listAll(client, services),
    listAll(client, nodes),
    client.get(secrets, { namespace, name: names.bgpSecret }),
  ])
  const password = secret?.data?.['password']
  return {
    found,
    namespace,
    services: all.filter((service) => isServed(service, found)),
    nodes: allNodes,
    password: password === undefined ? undefined : Buffer.from(password, 'base64').toString(),
  }
}

/** The namespace of the objects of MetalLB that we wrote, where the predecessor had none when we came. */
async function ownNamespace(client: KubeClient, { predecessor }: Found): Promise<string | undefined> {
  const of = predecessorNamed(predecessor)
  const all = (await Promise.all(metallbKinds.map((kind) => listAllKnown(client, kind, {})))).flat()
  const ours = all.find((one) => isWritten(one) && isOurs(marksOf(of, one.metadata.namespace ?? ''), one))
  return ours?.metadata.namespace
}

/** Whether the predecessor will announce a Service: we or it hold it with an address. Its mirror of the control plane it does not. */
function isServed(service: Service, { predecessor, services: before }: Found): boolean {
  const { metadata, spec } = service
  const { finalizers, mirrorService } = predecessorNamed(predecessor)
  if (spec.type !== 'LoadBalancer' || !spec.loadBalancerIP || metadata.deletionTimestamp) return false
  if (metadata.namespace === mirrorService.namespace && metadata.name === mirrorService.name) return false
  const isHeld = isMarked(service) || finalizers.some((one) => metadata.finalizers?.includes(one))
  return isHeld || before[keyOf(service)] !== undefined
}

async function readObjects(client: KubeClient, namespace: string): Promise<KubeObject[]> {
  const [lists, secret] = await Promise.all([
    Promise.all(metallbKinds.map((kind) => listAllKnown(client, kind, { namespace }))),
    client.get(secrets, { namespace, name: names.bgpSecret }),
  ])
  return [...lists.flat(), ...(secret ? [{ ...secret, apiVersion: 'v1' as const, kind: 'Secret' as const }] : [])]
}
