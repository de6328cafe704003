import type { Service } from '../kube/objects.ts'
import { addressAnnotation, withdrawingAnnotation } from '../ledger/names.ts'
import { outdatedAsks } from '../ledger/own-address.ts'
import { patch, patchStatus, without } from './patch-service.ts'
import type { Outcome } from './reconciler.ts'
import type { StepDeps } from './service-steps.ts'

/** How soon it is looked again whether the announcing software has let go, and how long it has time to. */
const letGoPollMs = 500
const letGoPatienceMs = 60_000

/** Whether the software was asked to let go of the Service's address. */
export function isLetGo({ metadata }: Service): boolean {
  return metadata.annotations?.[withdrawingAnnotation] !== undefined
}

/**
 * Nobody shows the address any more. Where the announcing software writes the status it is told to let go, and waited
 * for: what it does not show it does not announce. Software that is gone for good must not hold a Service for ever.
 */
export async function withdraw(deps: StepDeps, service: Service): Promise<Outcome | undefined> {
  const { client, announcer, event, now } = deps
  const { letGo } = announcer
  if (letGo && !isLetGo(service)) {
    event(service, withdrawal(service))
    return patch(client, service, lettingGo(deps, service))
  }
  if (letGo?.clearsStatus && askedForMs(service, now()) < letGoPatienceMs) return { againInMs: letGoPollMs }
  event(service, letGo?.clearsStatus ? unheard(announcer.name) : withdrawal(service))
  return patchStatus(client, service, { loadBalancer: { ingress: null } })
}

/** What takes back that the address is let go. */
export function notLetGo({ announcer }: Pick<StepDeps, 'announcer'>, service: Service): Record<string, null> {
  if (!isLetGo(service)) return {}
  return without([...Object.keys(announcer.letGo?.annotations ?? {}), withdrawingAnnotation])
}

/** What we wrote goes. What a person brought stays on a Service that stays: MetalLB 0.11 then waits for the type to change. */
function lettingGo({ announcer, asking, now }: StepDeps, service: Service): object {
  const { metadata, spec } = service
  const isOurs = spec.loadBalancerIP === metadata.annotations?.[addressAnnotation]
  const goes = isOurs || metadata.deletionTimestamp !== undefined
  const asks = goes ? outdatedAsks(service, asking, undefined) : []
  return {
    metadata: {
      annotations: { ...without(asks), ...announcer.letGo?.annotations, [withdrawingAnnotation]: now().toISOString() },
    },
    ...(goes ? { spec: { loadBalancerIP: null } } : {}),
  }
}

function askedForMs({ metadata }: Service, now: Date): number {
  return now.getTime() - (Date.parse(metadata.annotations?.[withdrawingAnnotation] ?? '') || 0)
}

type Said = Parameters<StepDeps['event']>[1]

function withdrawal({ metadata, spec }: Service): Said {
  const isLeaving = metadata.deletionTimestamp !== undefined || spec.type !== 'LoadBalancer'
  return isLeaving
    ? { type: 'Normal', reason: 'DeletingLoadBalancer', message: 'Deleting load balancer' }
    : {
        type: 'Warning',
        reason: 'SyncLoadBalancerFailed',
        message: `Address ${spec.loadBalancerIP} is lost; another one is reserved`,
      }
}

function unheard(software: string): Said {
  const message = `${software} did not let go of the address within ${letGoPatienceMs / 1000} s, as if it were not running; going on without it`
  return { type: 'Warning', reason: 'SyncLoadBalancerFailed', message }
}
