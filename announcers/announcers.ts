import type { Announcer } from './announcer.ts'
import { external } from './external.ts'
import { empty } from './empty.ts'
import { kubeVip } from './kube-vip.ts'
import { metallb } from './metallb/metallb.ts'
import { metallbDocument } from './metallb/document.ts'
import { formerMetallb } from './metallb/former.ts'
import { metallbObjects } from './metallb/objects.ts'
import { names } from '../settings/installed-names.ts'
import type { LoadBalancer, PeerMode } from './load-balancer-setting.ts'

/** How MetalLB's objects of a dialect were marked by its predecessor. */
export type AnnouncerMarks = {
  label: { name: string; value: string }
  advertisement: string
  /** The domain of the labels by which a peer in a ConfigMap counts its Services. */
  counting: string
}

/** The announcer that the load balancer setting names. */
export function announcerOf(loadBalancer: LoadBalancer, marks: AnnouncerMarks): Announcer {
  const of = configurationsFor(marks)
  const former = of.former(placeOf(loadBalancer))
  switch (loadBalancer.kind) {
    case 'none':
      return external('none')
    case 'empty':
      return { ...empty({ ipAnnotation: loadBalancer.ipAnnotation }), former }
    case 'kube-vip':
      return { ...kubeVip(), former }
    case 'metallb':
      return {
        ...metallb({ kind: 'either', objects: of.objects(loadBalancer), document: of.document(loadBalancer) }),
        former,
      }
    case 'metallb-crd':
      return { ...metallb(of.objects(loadBalancer)), former }
    case 'metallb-configmap':
      return { ...metallb(of.document(loadBalancer)), former }
    // A managed load balancer has addresses of its own, which nobody announces.
    case 'emlb':
      return { ...external('emlb'), former }
  }
}

/** Where MetalLB's ConfigMap is, or would be by default. */
function placeOf(loadBalancer: LoadBalancer): { namespace: string; name: string } {
  return { namespace: 'metallb-system', name: 'config', ...loadBalancer }
}

function configurationsFor({ label, advertisement, counting }: AnnouncerMarks) {
  const options = { label, advertisement, passwordSecret: names.bgpSecret }
  const document = ({ namespace, name }: { namespace: string; name: string }) =>
    metallbDocument({ namespace, name, counting })
  return {
    document,
    objects: ({ namespace, peerMode }: { namespace: string; peerMode: PeerMode }) =>
      metallbObjects({ ...options, namespace, peerMode }),
    former: (place: { namespace: string; name: string }) =>
      formerMetallb({ ...options, peerMode: 'native' }, document(place)),
  }
}
