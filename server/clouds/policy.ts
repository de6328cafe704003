import { kubeVipRequestAnnotation, metallbRequestAnnotations } from '../../announcers/request-annotations.ts'
import type { LocationSource } from '../../ledger/want/location.ts'
import { ownAnnotations, ownPrefix } from '../../ledger/record/names.ts'
import type { Policy } from '../../ledger/want/want.ts'
import type { common } from '../settings/common.ts'
import type { LoadBalancer } from '../settings/load-balancer.ts'
import type { ValuesOf } from '../settings/setting.ts'

type Common = ValuesOf<typeof common>

/** What a dialect alone can say of Services. */
export type Words = {
  loadBalancer: LoadBalancer
  controlPlaneService: string
  /** Annotations of a Service that the vendor's predecessor knew, and the prefix under which all others are mistakes. */
  annotations: { known: string[]; prefix?: string }
  /** Annotation by which a Service says that it is none of ours. */
  managed?: string
  /** Where addresses are reserved, the strongest first: by settings for the cluster, by annotations of a Service. */
  places: { ofCluster: LocationSource[]; ofService: LocationSource[] }
}

/** What the operator decided for all Services, in the words of one dialect. */
export function policyOf(settings: Common, { loadBalancer, annotations, managed, places, ...text }: Words): Policy {
  const { known, prefix } = annotations
  const { ofCluster, ofService } = places
  const written = loadBalancer.kind === 'empty' ? loadBalancer.ipAnnotation : undefined
  return {
    ...text,
    loadBalancing: loadBalancer.kind !== 'none',
    excludedNamespaces: settings.excludedNamespaces,
    reclaimPolicy: settings.defaultReclaimPolicy,
    ...(managed !== undefined && { managedAnnotation: managed }),
    annotations: {
      known: [...known, ...[managed, written].filter((name) => name !== undefined), ...ownAnnotations],
      prefixes: [...(prefix === undefined ? [] : [prefix]), ownPrefix],
    },
    requestAnnotations: requestAnnotationsOf(loadBalancer),
    // The code of the predecessors contradicted their READMEs: there the Service won, and the weaker word before the other.
    locationSources: settings.serviceLocationWins
      ? [...ofService.toReversed(), ...ofCluster.toReversed()]
      : [...ofCluster, ...ofService],
  }
}

/** How Services ask whoever announces. MetalLB refuses one that asks twice, be it for the same address. */
function requestAnnotationsOf(loadBalancer: LoadBalancer): Policy['requestAnnotations'] {
  switch (loadBalancer.kind) {
    case 'metallb':
    case 'metallb-crd':
    case 'metallb-configmap':
      return { annotations: metallbRequestAnnotations, besideSpec: false }
    case 'kube-vip':
      return { annotations: [kubeVipRequestAnnotation], besideSpec: true }
    case 'empty':
      return {
        annotations: loadBalancer.ipAnnotation === undefined ? [] : [loadBalancer.ipAnnotation],
        besideSpec: true,
      }
    case 'none':
    case 'emlb':
      return { annotations: [], besideSpec: true }
  }
}
