import type { Announcer } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Key, Service } from '../../kube/objects.ts'
import type { Claim, ClaimResult } from '../../ledger/claim/claim-spec.ts'
import type { ElasticIP, ReclaimPolicy } from '../../ledger/record/elastic-ip.ts'
import type { ReleaseResult } from '../../ledger/release/release.ts'
import { addressAnnotation, serviceFinalizer, upstreamFinalizer } from '../../ledger/record/names.ts'
import {
  type RequestAnnotations,
  annotationsRequesting,
  outdatedRequestAnnotations,
} from '../../ledger/want/own-address.ts'
import { type Outcome, Terminal } from '../reconciler.ts'
import type { Step } from './service-plan.ts'
import { patch, patchStatus, without } from './patch-service.ts'
import { cancelWithdrawal, withdraw } from './withdrawal.ts'

/** The upstream service controller's reasons: dashboards know them. */
export type Reason =
  | 'EnsuringLoadBalancer'
  | 'EnsuredLoadBalancer'
  | 'SyncLoadBalancerFailed'
  | 'DeletingLoadBalancer'
  | 'DeletedLoadBalancer'

export type StepDeps = {
  client: KubeClient
  announcer: Pick<Announcer, 'name' | 'withdrawal'>
  requestAnnotations: RequestAnnotations
  claim: (claim: Claim, signal: AbortSignal) => Promise<ClaimResult>
  bind: (of: { record: ElasticIP; uid: string }, signal: AbortSignal) => Promise<void>
  setReclaimPolicy: (of: { record: ElasticIP; reclaim: ReclaimPolicy }, signal: AbortSignal) => Promise<void>
  release: (record: ElasticIP, signal: AbortSignal) => Promise<ReleaseResult>
  retain: (record: ElasticIP, signal: AbortSignal) => Promise<void>
  now: () => Date
  event: (service: Service, said: { type: 'Normal' | 'Warning'; reason: Reason; message: string }) => void
}

/** Carries one step out; an outcome says that no other step may follow now. */
export type CarryOut = (
  step: Step,
  at: { key: Key; service: Service | undefined },
  signal: AbortSignal,
) => Promise<Outcome | undefined>

/** How long until a cloud is asked again whether it has granted or deleted what it was asked to. */
const pollMs = 5_000

/** Everything that the Service controller does to the world, a step at a time. */
export function serviceSteps(deps: StepDeps): CarryOut {
  return async (step, { key, service }, signal) => {
    if (step.do === 'release') return release(deps, { record: step.record, service }, signal)
    if (step.do === 'retain') await deps.retain(step.record, signal)
    else if (step.do === 'bind') await deps.bind(step, signal)
    else if (step.do === 'set-reclaim-policy') await deps.setReclaimPolicy(step, signal)
    else if (service) return onService(deps, { step, key, service }, signal)
    return undefined
  }
}

type ServiceStep = Exclude<Step, { do: 'release' | 'retain' | 'bind' | 'set-reclaim-policy' }>

async function onService(
  deps: StepDeps,
  { step, key, service }: { step: ServiceStep; key: Key; service: Service },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { finalizers = [] } = service.metadata
  const write = (change: object) => patch(deps.client, service, change)
  switch (step.do) {
    case 'add-finalizer':
      return write({ metadata: { finalizers: [...finalizers, serviceFinalizer] } })
    case 'remove-finalizers':
      deps.event(service, { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' })
      return write({
        metadata: { finalizers: finalizers.filter((name) => name !== serviceFinalizer && name !== upstreamFinalizer) },
      })
    case 'show-address':
      return write({
        metadata: {
          annotations: {
            ...cancelWithdrawal(deps, service),
            ...without(outdatedRequestAnnotations(service, deps.requestAnnotations, step.address)),
            [addressAnnotation]: step.address,
          },
        },
        spec: { loadBalancerIP: step.address },
      })
    case 'hide-address':
      return write(hidden(deps, service))
    case 'announce':
      return announce(deps, service, step)
    case 'withdraw':
      return withdraw(deps, service)
    case 'claim':
      return claim(deps, { step, key, service }, signal)
    case 'report-problems':
      throw new Terminal(step.problems.join('; '))
  }
}

async function claim(
  deps: StepDeps,
  { step, key, service }: { step: Extract<Step, { do: 'claim' }>; key: Key; service: Service },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  deps.event(service, { type: 'Normal', reason: 'EnsuringLoadBalancer', message: 'Ensuring load balancer' })
  const { do: _claim, ...wish } = step
  const isShown = service.metadata.annotations?.[addressAnnotation] !== undefined
  const claimed = await deps.claim({ ...wish, key, isShown, wait: false }, signal)
  switch (claimed.kind) {
    case 'held':
      return undefined
    case 'pending':
    case 'busy':
      deps.event(service, {
        type: 'Warning',
        reason: 'SyncLoadBalancerFailed',
        message: `Address pending: ${claimed.reason}`,
      })
      return { againInMs: pollMs }
    case 'refused':
      throw new Error(`no address: ${claimed.reason}`)
  }
}

async function announce(
  { client, event }: StepDeps,
  service: Service,
  { address, request }: Extract<Step, { do: 'announce' }>,
): Promise<undefined> {
  if (Object.keys(request.annotations).length > 0) {
    await patch(client, service, { metadata: { annotations: request.annotations } })
  }
  if (request.status) await patchStatus(client, service, request.status)
  event(service, { type: 'Normal', reason: 'EnsuredLoadBalancer', message: `Ensured load balancer: ${address}` })
}

async function release(
  deps: StepDeps,
  { record, service }: { record: ElasticIP; service: Service | undefined },
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  if ((await deps.release(record, signal)) !== 'request-in-flight') return undefined
  if (service)
    deps.event(service, {
      type: 'Normal',
      reason: 'DeletingLoadBalancer',
      message: 'Its address is still being reserved, and goes back when the cloud has answered',
    })
  return { againInMs: pollMs }
}

function hidden(deps: StepDeps, service: Service): object {
  const { metadata, spec } = service
  const shown = metadata.annotations?.[addressAnnotation]
  return {
    metadata: {
      annotations: {
        ...cancelWithdrawal(deps, service),
        ...without([addressAnnotation, ...annotationsRequesting(service, deps.requestAnnotations, shown)]),
      },
    },
    ...(spec.loadBalancerIP === shown ? { spec: { loadBalancerIP: null } } : {}),
  }
}
