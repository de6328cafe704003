import { mapAll } from '../../lib/map-all.ts'
import { type Service, keyOf, splitKey } from '../../kube/objects.ts'
import {
  balancerFinalizer,
  balancerRequestAnnotation,
  upstreamFinalizer,
  serviceFieldManager,
} from '../../ledger/record/names.ts'
import { type Outcome, Terminal } from '../loop/reconciler.ts'
import { patch, patchStatus, withoutAnnotations } from '../services/patch-service.ts'
import type { ServiceEvent } from '../services/service-condition.ts'
import type { BalancerStep } from './balancer-plan.ts'
import type { BalancerSeen } from './balancer-state.ts'
import { changePorts } from './port-steps.ts'
import { randomUUID } from 'node:crypto'
import type { Balancers, BalancerAnnotations } from '../../clouds/ports/balancers.ts'
import { CloudError } from '../../clouds/ports/cloud.ts'
import type { KubeClient } from '../../kube/client.ts'
import { services } from '../../kube/resource.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'

export type BalancerStepDeps = CreateDeps & {
  event: (service: Service, event: ServiceEvent) => void
  /** Called for each Service that admission should have completed, but did not review. */
  onMissedByAdmission: () => void
}

/** Executes one step for a Service and its balancer; an outcome ends the reconcile. */
export async function carryOutBalancerStep(
  deps: BalancerStepDeps,
  { step, seen }: { step: BalancerStep; seen: BalancerSeen },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { balancers, event } = deps
  const { service, names, found } = seen
  switch (step.do) {
    case 'create':
      event(service, { type: 'Normal', reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' })
      await createBalancer(deps, { service, ...step }, signal)
      return undefined
    case 'change-ports':
      await changePorts(balancers, { ...step, names }, signal)
      return undefined
    case 'remove-balancer':
      event(service, { type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' })
      return removeBalancer(deps, step, signal)
    case 'remove-surplus': {
      const message = `Load balancer ${step.id} is deleted: an earlier request created it, and ${found[0]?.id} serves`
      event(service, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message })
      return removeBalancer(deps, step, signal)
    }
    case 'remove-pools':
      await mapAll(step.pools, (pool) => balancers.removePool(pool, signal), 4)
      return undefined
    case 'report-problems':
      throw new Terminal(step.problems.join('; '))
    case 'add-finalizer':
    case 'show-balancer':
    case 'show-status':
    case 'clear-status':
    case 'forget':
      return changeService(deps, step, service)
  }
}

type StepOnService = Extract<
  BalancerStep,
  { do: 'add-finalizer' | 'show-balancer' | 'show-status' | 'clear-status' | 'forget' }
>

async function changeService(deps: BalancerStepDeps, step: StepOnService, service: Service): Promise<undefined> {
  const { client, annotations, event } = deps
  const { finalizers = [] } = service.metadata
  switch (step.do) {
    case 'add-finalizer':
      await patch(client, service, { metadata: { finalizers: [...finalizers, balancerFinalizer] } })
      // A predecessor's Service was created before we were installed.
      if (!finalizers.includes(upstreamFinalizer)) deps.onMissedByAdmission()
      return undefined
    case 'show-balancer': {
      const shown = { [annotations.id]: step.id, [annotations.location]: step.location ?? null }
      return patch(client, service, { metadata: { annotations: { ...shown, [balancerRequestAnnotation]: null } } })
    }
    case 'show-status': {
      await patchStatus(client, service, { loadBalancer: { ingress: step.addresses.map((ip) => ({ ip })) } })
      const message = `Ensured load balancer: ${step.addresses.join(', ')}`
      event(service, { type: 'Normal', reason: 'EnsuredLoadBalancer', message })
      return undefined
    }
    case 'clear-status':
      return patchStatus(client, service, { loadBalancer: { ingress: null } })
    case 'forget':
      return forget(deps, service)
  }
}

/** The parts of a deleted balancer can no longer be found, so its pools are deleted first. */
async function removeBalancer(
  { balancers }: BalancerStepDeps,
  { id, pools }: { id: string; pools: string[] },
  signal: AbortSignal,
): Promise<undefined> {
  await mapAll(pools, (pool) => balancers.removePool(pool, signal), 4)
  await balancers.remove(id, signal)
}

/** If another program serves the Service now, the upstream finalizer belongs to that program's controller. */
async function forget({ client, annotations, event }: BalancerStepDeps, service: Service): Promise<undefined> {
  const { finalizers = [], deletionTimestamp } = service.metadata
  const isForeign = service.spec.loadBalancerClass !== undefined
  const ours = isForeign || (!deletionTimestamp && service.spec.type === 'LoadBalancer') ? [] : [upstreamFinalizer]
  const kept = finalizers.filter((name) => ![balancerFinalizer, ...ours].includes(name))
  event(service, { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' })
  await patch(client, service, {
    metadata: {
      finalizers: kept,
      annotations: withoutAnnotations([annotations.id, annotations.location, balancerRequestAnnotation]),
    },
  })
}

type CreateDeps = {
  client: KubeClient
  balancers: Balancers
  annotations: BalancerAnnotations
  /** How long a request may take from its note to its answer. */
  budgetMs: number
  monotonicMs: () => number
}

/**
 * Creates the balancer of a Service. The request is noted on the Service before it is sent, and only if the Service has
 * not changed since we read it. So only one of two processes can send it. The note stays as long as the request may
 * succeed.
 */
async function createBalancer(
  deps: CreateDeps,
  { service, name, location }: { service: Service; name: string; location: string },
  signal: AbortSignal,
): Promise<void> {
  const { client, balancers, annotations: names, budgetMs, monotonicMs } = deps
  const endsAtMs = monotonicMs() + budgetMs
  const noted = await note(client, service, names)
  // A process that was suspended in between would send a request for which others no longer wait.
  if (monotonicMs() >= endsAtMs)
    throw new Error('the request for a load balancer took too long to record; eip-admission records another one')
  const timeoutError = () => new Error(`no answer to the request for a load balancer within ${budgetMs / 1000} s`)
  const limits = { ms: endsAtMs - monotonicMs(), timeoutError, signal }
  try {
    const id = await withTimeLimit(limits, (ends) => balancers.create({ name, location }, ends))
    const shown = { [names.id]: id, [names.location]: location, [balancerRequestAnnotation]: null }
    await patch(client, noted, { metadata: { annotations: shown } })
  } catch (error) {
    if (error instanceof CloudError && error.outcome === 'nothing')
      await patch(client, noted, { metadata: { annotations: { [balancerRequestAnnotation]: null } } })
    throw error
  }
}

/** Notes a request. An id that the Service still shows names a deleted balancer. */
async function note(client: KubeClient, service: Service, names: BalancerAnnotations): Promise<Service> {
  const annotations = { [names.id]: null, [names.location]: null, [balancerRequestAnnotation]: randomUUID() }
  const merge = { metadata: { resourceVersion: service.metadata.resourceVersion, annotations } }
  const target = { ...splitKey(keyOf(service)), patch: { merge } }
  return await client.patch(services, target, { fieldManager: serviceFieldManager })
}
