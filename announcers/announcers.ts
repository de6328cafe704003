import type { Rule } from '../kube/objects.ts'
import type { Annotation } from '../lib/annotation.ts'
import type { Announcer } from './announcer.ts'
import { assignSoftware } from './assign.ts'
import { calicoSoftware } from './calico/calico.ts'
import { ciliumSoftware } from './cilium/cilium.ts'
import { emptySoftware } from './empty.ts'
import { kubeVipSoftware } from './kube-vip/kube-vip.ts'
import { metallbSoftware } from './metallb/metallb.ts'
import { type LoadBalancer, nameOfChoice } from './setting.ts'
import type { AnnouncerMarks, Software } from './software.ts'

/** Every announcing software, in the order of the documentation. */
export const softwares: readonly Software[] = [
  metallbSoftware,
  ciliumSoftware,
  calicoSoftware,
  kubeVipSoftware,
  assignSoftware,
  emptySoftware,
]

/** The software that the load balancer setting chooses; undefined if none announces our addresses. */
export function softwareOf({ kind }: LoadBalancer): Software | undefined {
  return softwares.find(({ kinds }) => kinds.includes(kind))
}

/** The announcer that the load balancer setting chooses. */
export function announcerOf(loadBalancer: LoadBalancer, marks: AnnouncerMarks): Announcer {
  // A managed load balancer has addresses of its own, which are not announced.
  const announcer = softwareOf(loadBalancer)?.announcer(loadBalancer, marks) ?? external(nameOfChoice(loadBalancer))
  const former = softwares.flatMap((software) => software.former?.(loadBalancer, marks) ?? [])
  return { ...announcer, former, ...(loadBalancer.kind === 'none' && { keepsFormer: true }) }
}

/** Annotations of announcing software that a Service may carry, for the reference. */
export const announcerAnnotations: readonly Annotation[] = softwares.flatMap(({ annotations = [] }) => annotations)

/** The annotations by which a Service can request an address from any announcing software. */
export const allRequestAnnotations: readonly string[] = softwares.flatMap((one) => one.requestAnnotations ?? [])

/** The annotations that keep every announcing software from announcing anything for a Service. */
export const silencingAnnotations: Readonly<Record<string, string>> = Object.assign(
  {},
  ...softwares.map(({ silencing }) => silencing),
)

/** The rights to configure announcing software, whichever the setting chooses. */
export const announcerRules: readonly Rule[] = [...new Set(softwares.flatMap(({ rules = [] }) => rules))]

/** Another program reads spec.loadBalancerIP, announces it and writes the status of the Service. */
function external(name: string): Announcer {
  return { name, request: () => ({}) }
}
