import { isOurs, isWritten } from '../../../announcers/metallb/ownership.ts'
import { nothingToAnnounce } from '../../../controllers/announcing/configurator.ts'
import { configureObjects } from '../../../controllers/announcing/configure-objects.ts'
import { listAllKnown } from '../../../controllers/announcing/list-known.ts'
import { planChanges } from '../../../controllers/announcing/plan-changes.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { listAll } from '../../../kube/list-all.ts'
import { type KubeObject, type Service, keyOf } from '../../../kube/objects.ts'
import { nodes, secrets, services } from '../../../kube/resource.ts'
import { names } from '../../../settings/installed-names.ts'
import { type Found, marksOf, metallbKinds, predecessorNamed } from '../found.ts'
import type { Step } from '../steps.ts'
import { type UndoFacts, predecessorConfiguration, wantedObjects } from './predecessor-objects.ts'
import { isMarked } from './undo-service.ts'
import type { UndoWork } from './undo-steps.ts'
import { writePools } from './write-pools.ts'

/** Gives the objects of MetalLB the names and fields that the predecessor expects, without an address without a way. */
export function metallbStep(deps: UndoWork): Step {
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
        await check()
        const result = await configurator.carryOut(nothingToAnnounce, signal)
        const [refused] = result.problems
        if (refused) throw new Error(`MetalLB refuses an object of the predecessor: ${refused.message}`)
        isUnfinished = result.isUnfinished ?? false
        if (isUnfinished) await clock.sleep(250, signal)
      }
    },
  }
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
