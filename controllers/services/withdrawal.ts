import type { Announcer } from '../../announcers/announcer.ts'
import { silencingAnnotations } from '../../announcers/announcers.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Service, ingressOf } from '../../kube/objects.ts'
import { addressAnnotation, elasticIPAnnotation, withdrawingAnnotation } from '../../ledger/record/names.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { outdatedRequestAnnotations } from '../../ledger/want/own-address.ts'
import { patch, patchSharedStatus, patchStatus, withoutAnnotations } from './patch-service.ts'
import type { Want } from '../../ledger/want/want.ts'
import { withdrawalTimeoutMs, isWithdrawing } from './removal-plan.ts'
import { type ServiceEvent, deletingEvent, failedEvent } from './service-condition.ts'
import type { RequestAnnotations } from '../../settings/service-policy.ts'

export type WithdrawalDeps = {
  client: KubeClient
  announcer: Pick<Announcer, 'name' | 'withdrawal' | 'withdrawsOnlyOnDeletion'>
  requestAnnotations: RequestAnnotations
  want: (service: Service) => Want
  now: () => Date
  event: (service: Service, event: ServiceEvent) => void
}

/** Has the announcing software withdraw the Service's address. */
export function withdraw(deps: WithdrawalDeps, service: Service): Promise<undefined> {
  deps.event(service, withdrawalEvent(deps, service))
  return patch(deps.client, service, withdrawalPatch(deps, service))
}

/** Restores a Service under deletion, so that the announcing software withdraws its address when it is deleted. */
export function restoreService(
  { client, announcer, event }: WithdrawalDeps,
  service: Service,
  change: object,
): Promise<undefined> {
  const message =
    `${announcer.name} withdraws the address only if the Service is a LoadBalancer that it does not ignore when it is ` +
    'deleted: eip-admission makes it one before the deletion ends'
  event(service, deletingEvent(message))
  return patch(client, service, change)
}

/** Removes the addresses from the Service's status, except the `kept` ones. */
export function clearStatus(
  deps: WithdrawalDeps,
  service: Service,
  { isOverdue, kept = [] }: { isOverdue: boolean; kept?: string[] },
): Promise<undefined> {
  const { client, announcer, event } = deps
  event(service, isOverdue ? overdueEvent(announcer.name) : withdrawalEvent(deps, service))
  if (kept.length > 0) return showOnly(client, service, ({ ip = '' }) => kept.includes(ip))
  return patchStatus(client, service, { loadBalancer: { ingress: null } })
}

/** Removes some addresses from the Service's status. */
export function hideInStatus(
  { client, event }: WithdrawalDeps,
  service: Service,
  addresses: string[],
): Promise<undefined> {
  const message = `Withdrawing ${addresses.join(', ')}`
  event(service, { type: 'Normal', reason: 'EnsuringLoadBalancer', message })
  return showOnly(client, service, ({ ip = '' }) => !addresses.includes(canonicalIpAddress(ip) ?? ip))
}

/** Two controllers may write the status of a Service with two addresses, so neither may undo the other's write. */
function showOnly(
  client: KubeClient,
  service: Service,
  isShown: (entry: { ip?: string }) => boolean,
): Promise<undefined> {
  const ingress = ingressOf(service).filter(isShown)
  const status = { loadBalancer: { ingress: ingress.length > 0 ? ingress : null } }
  return patchSharedStatus(client, service, status)
}

/** The annotations that undo a withdrawal, even one for other software, which would otherwise continue to obey it. */
export function cancelWithdrawal({ announcer }: WithdrawalDeps, service: Service): Record<string, null> {
  if (!isWithdrawing(service)) return {}
  const { annotations = {} } = service.metadata
  const silencing = Object.entries(silencingAnnotations).filter(([name, value]) => annotations[name] === value)
  const left = silencing.map(([name]) => name)
  const ours = [...Object.keys(announcer.withdrawal?.annotations ?? {}), ...left, withdrawingAnnotation]
  return withoutAnnotations([...new Set(ours)])
}

/**
 * Removes the fields that we wrote. A person's own address stays on a Service that is not deleted; MetalLB 0.11 then
 * withdraws it only when the Service's type changes.
 */
function withdrawalPatch({ announcer, requestAnnotations, now }: WithdrawalDeps, service: Service): object {
  const { metadata, spec } = service
  const shown = metadata.annotations?.[addressAnnotation]
  const isOurs = shown !== undefined && spec.loadBalancerIP === shown
  const isRemoved = isOurs || metadata.deletionTimestamp !== undefined
  const outdated = isRemoved ? outdatedRequestAnnotations(service, requestAnnotations, undefined) : []
  return {
    metadata: {
      annotations: {
        ...withoutAnnotations(outdated),
        ...announcer.withdrawal?.annotations,
        [withdrawingAnnotation]: now().toISOString(),
      },
    },
    ...(isRemoved ? { spec: { loadBalancerIP: null } } : {}),
  }
}

function withdrawalEvent({ want }: WithdrawalDeps, service: Service): ServiceEvent {
  const { metadata, spec } = service
  const wantsNone = ['nothing', 'foreign', 'managed'].includes(want(service).kind)
  if (metadata.deletionTimestamp !== undefined || wantsNone) return deletingEvent('Deleting load balancer')
  const { [addressAnnotation]: ours, [elasticIPAnnotation]: elasticIP } = metadata.annotations ?? {}
  if (ours === undefined || spec.loadBalancerIP !== ours)
    return failedEvent('The Service may not have the address that it shows; eip-admission withdraws it')
  const remedy =
    elasticIP === undefined
      ? 'eip-admission reserves another one'
      : `it came from ElasticIP ${elasticIP}: name another one, or provision that one again`
  return failedEvent(`The provider no longer has address ${ours}; ${remedy}`)
}

/** Why an address stays reserved: the announcing software has not withdrawn it. */
export function notWithdrawn(software: string): string {
  return (
    `${software} has not withdrawn the address for ${withdrawalTimeoutMs / 1000} s, so it stays reserved: it would be ` +
    `announced when ${software} comes back. Start ${software} again. If it was removed for good, change the load balancer ` +
    'setting of eip-admission'
  )
}

function overdueEvent(software: string): ServiceEvent {
  return failedEvent(
    `${software} did not withdraw the address within ${withdrawalTimeoutMs / 1000} s. ` +
      'eip-admission removes it from the status and releases it; check that the software is running',
  )
}
