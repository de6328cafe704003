import type { Service } from '../../kube/objects.ts'
import { addressAnnotation, withdrawingAnnotation } from '../../ledger/record/names.ts'
import { outdatedRequestAnnotations } from '../../ledger/want/own-address.ts'
import { patch, patchStatus, without } from './patch-service.ts'
import type { Outcome } from '../reconciler.ts'
import type { StepDeps } from './service-steps.ts'

/** How soon it is looked again whether the announcing software has let go, and how long it has time to. */
const withdrawalPollMs = 500
const withdrawalTimeoutMs = 60_000

/** Whether the software was asked to let go of the Service's address. */
export function isWithdrawing({ metadata }: Service): boolean {
  return metadata.annotations?.[withdrawingAnnotation] !== undefined
}

/**
 * Nobody shows the address any more. Where the announcing software writes the status it is told to let go, and waited
 * for: what it does not show it does not announce. Software that is gone for good must not hold a Service for ever.
 */
export async function withdraw(deps: StepDeps, service: Service): Promise<Outcome | undefined> {
  const { client, announcer, event, now } = deps
  const { withdrawal } = announcer
  if (withdrawal && !isWithdrawing(service)) {
    event(service, withdrawalEvent(service))
    return patch(client, service, withdrawalPatch(deps, service))
  }
  if (withdrawal?.clearsStatus && withdrawingForMs(service, now()) < withdrawalTimeoutMs)
    return { againInMs: withdrawalPollMs }
  event(service, withdrawal?.clearsStatus ? withdrawalTimedOut(announcer.name) : withdrawalEvent(service))
  return patchStatus(client, service, { loadBalancer: { ingress: null } })
}

/** What takes back that the address is let go. */
export function cancelWithdrawal({ announcer }: Pick<StepDeps, 'announcer'>, service: Service): Record<string, null> {
  if (!isWithdrawing(service)) return {}
  return without([...Object.keys(announcer.withdrawal?.annotations ?? {}), withdrawingAnnotation])
}

/** What we wrote goes. What a person brought stays on a Service that stays: MetalLB 0.11 then waits for the type to change. */
function withdrawalPatch({ announcer, requestAnnotations, now }: StepDeps, service: Service): object {
  const { metadata, spec } = service
  const isOurs = spec.loadBalancerIP === metadata.annotations?.[addressAnnotation]
  const goes = isOurs || metadata.deletionTimestamp !== undefined
  const asks = goes ? outdatedRequestAnnotations(service, requestAnnotations, undefined) : []
  return {
    metadata: {
      annotations: {
        ...without(asks),
        ...announcer.withdrawal?.annotations,
        [withdrawingAnnotation]: now().toISOString(),
      },
    },
    ...(goes ? { spec: { loadBalancerIP: null } } : {}),
  }
}

function withdrawingForMs({ metadata }: Service, now: Date): number {
  return now.getTime() - (Date.parse(metadata.annotations?.[withdrawingAnnotation] ?? '') || 0)
}

type Said = Parameters<StepDeps['event']>[1]

function withdrawalEvent({ metadata, spec }: Service): Said {
  const isLeaving = metadata.deletionTimestamp !== undefined || spec.type !== 'LoadBalancer'
  return isLeaving
    ? { type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' }
    : {
        type: 'Warning',
        reason: 'SyncLoadBalancerFailed',
        message: `Address ${spec.loadBalancerIP} is lost; another one is reserved`,
      }
}

function withdrawalTimedOut(software: string): Said {
  const message = `${software} did not let go of the address within ${withdrawalTimeoutMs / 1000} s, as if it were not running; going on without it`
  return { type: 'Warning', reason: 'SyncLoadBalancerFailed', message }
}
