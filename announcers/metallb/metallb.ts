import { type KubeObject, keyOf } from '../../kube/objects.ts'
import type { Annotation } from '../../lib/annotation.ts'
import { names } from '../../settings/installed-names.ts'
import type { Announcer, FormerConfiguration } from '../announcer.ts'
import type { LoadBalancer, PeerMode } from '../setting.ts'
import { countsOf, isWritten, kubectlNames, ownSelector, secretDeletion, secretRule } from '../shared/own-objects.ts'
import type { AnnouncerMarks, Software } from '../software.ts'
import { announcedAddresses, readsObjects, speakers } from './checks/announced.ts'
import { metallbDocumentCheck, metallbReports, overlappingPools } from './checks/configuration.ts'
import { excludedNodes } from './checks/excluded-nodes.ts'
import { metallbClass, metallbDefinitions, metallbPrograms } from './checks/programs.ts'
import { metallbDocument } from './document.ts'
import {
  metallbPoolAnnotations,
  metallbRequestAnnotations,
  metallbSharingAnnotations,
  unusedPoolName,
} from './names.ts'
import { metallbObjects } from './objects.ts'
import { isPeer, metallbKinds } from './resources.ts'
import { metallbConfigMapOf, metallbScheme } from './scheme.ts'
import { type Remedy, shell } from '../../lib/remedy.ts'

const silencing = Object.fromEntries(metallbPoolAnnotations.map((name) => [name, unusedPoolName]))

/** MetalLB. It writes the status of a Service itself. */
export const metallbSoftware: Software<'metallb' | 'metallb-crd' | 'metallb-configmap'> = {
  schemes: { metallb: metallbScheme },
  needs: 'bgp',
  kinds: ['metallb', 'metallb-crd', 'metallb-configmap'],
  annotations: metallbAnnotations(),
  requestAnnotations: metallbRequestAnnotations,
  // MetalLB refuses two requests, even for one address.
  requests: ({ kind }) => ({
    annotations: metallbRequestAnnotations,
    besideSpec: false,
    // MetalLB that reads a ConfigMap ignores the pool of a Service that requests an address.
    ...(kind !== 'metallb-configmap' && { pools: metallbPoolAnnotations }),
  }),
  silencing,
  matchesFamilies: true,
  sessionsCommand,
  readsDocument: (loadBalancer, definitions) => !readsObjects(definitions, loadBalancer),
  sessions: {
    needs: ['metallb'],
    configured: ({ metallb: objects }) =>
      objects.filter(isPeer).map((peer) => ({
        where: `BGPPeer ${keyOf(peer)} of MetalLB`,
        routers: [peer.spec.peerAddress ?? ''],
        // Calico has a kind of the same name.
        removal: `kubectl delete bgppeers.metallb.io -n ${peer.metadata.namespace} ${peer.metadata.name}`,
      })),
  },
  checks: [
    metallbPrograms,
    metallbClass,
    metallbDefinitions,
    metallbReports,
    metallbDocumentCheck,
    overlappingPools,
    announcedAddresses,
    excludedNodes,
    speakers,
  ],
  // MetalLB may be in any namespace, and may be installed after us. No other program has such objects.
  rules: [
    {
      apiGroups: ['metallb.io'],
      resources: ['ipaddresspools', 'bgppeers', 'bgpadvertisements'],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
    },
    { apiGroups: ['metallb.io'], resources: ['configurationstates'], verbs: ['list'] },
    secretRule,
  ],
  left: { kinds: metallbKinds, texts: metallbLeft },
  former: formerMetallbConfiguration,
  announcer(loadBalancer, marks) {
    const { document, objects } = configurations(marks)
    switch (loadBalancer.kind) {
      case 'metallb':
        return metallb({
          kind: 'either',
          title: 'MetalLB',
          objects: objects(loadBalancer),
          document: document(loadBalancer),
        })
      case 'metallb-crd':
        return metallb(objects(loadBalancer))
      case 'metallb-configmap':
        return metallb(document(loadBalancer))
    }
  },
}

/** Speakers show their sessions only in their metrics, and reading those takes more than the right to read objects. */
function sessionsCommand({ namespace }: { namespace: string }): Remedy {
  const metrics = `/api/v1/namespaces/${namespace}/pods/$pod:7472/proxy/metrics`
  return shell`for pod in $(kubectl get pods -n ${namespace} -o name | grep speaker | cut -d/ -f2); do echo $pod; kubectl get --raw ${metrics} | grep ^metallb_bgp_session_up; done`
}

/** The MetalLB objects that we may have written under another setting: in another namespace, or in the other form. */
function formerMetallbConfiguration(loadBalancer: LoadBalancer, marks: AnnouncerMarks): FormerConfiguration {
  const { objects, document } = configurations(marks)
  const at = metallbConfigMapOf(loadBalancer)
  return {
    selector: ownSelector,
    kinds: metallbKinds,
    configurations(found) {
      const namespaces = new Set(found.map(({ metadata }) => metadata.namespace ?? ''))
      return [...namespaces].map((namespace) => {
        // This MetalLB may have announced both families, which takes FRR.
        const configuration = objects({ namespace, peerMode: 'frr' })
        return { ...configuration, isOurs: (object) => isWritten(object) && configuration.isOurs(object) }
      })
    },
    document: document({ namespace: at.namespace ?? 'metallb-system', name: at.name }),
  }
}

/** The announcer for MetalLB, with the configuration that its version reads. */
export function metallb(configuration: NonNullable<Announcer['configuration']>): Announcer {
  return {
    name: 'metallb',
    // spec.loadBalancerIP is a request already, and MetalLB refuses a Service with two.
    request: () => ({}),
    // MetalLB up to 0.14.1 refuses a configuration that lacks an address in use: the Service must release the address
    // before its pool is removed. Every version knows the first annotation. From 0.14.9 on the second, which a user may
    // have set, takes precedence.
    withdrawal: { annotations: silencing, clearsStatus: true },
    configuration,
  }
}

function configurations({ label, advertisement, counting }: AnnouncerMarks) {
  const marks = { label, advertisement, passwordSecret: names.bgpSecret }
  return {
    document: ({ namespace, name }: { namespace: string; name: string }) =>
      metallbDocument({ namespace, name, counting }),
    objects: ({ namespace, peerMode }: { namespace: string; peerMode: PeerMode }) =>
      metallbObjects({ ...marks, namespace, peerMode }),
  }
}

function metallbAnnotations(): readonly Annotation[] {
  const [metallbRequest = '', metallbOldRequest = ''] = metallbRequestAnnotations
  return [
    {
      name: metallbRequest,
      on: 'Service',
      writers: ['user'],
      values: 'an IP address',
      sentence: 'Requests a user-chosen address from MetalLB. MetalLB refuses it together with `spec.loadBalancerIP`.',
    },
    {
      name: metallbOldRequest,
      on: 'Service',
      writers: ['user'],
      values: 'an IP address',
      sentence: 'The name of the same annotation up to MetalLB 0.14.',
    },
    ...metallbPoolAnnotations.map((name): Annotation => ({
      name,
      on: 'Service',
      writers: ['user', 'eip-admission'],
      values: 'the name of an address pool',
      sentence:
        'Chooses the pool of the address. eip-admission writes a pool that does not exist, so MetalLB withdraws the address.',
    })),
    ...metallbSharingAnnotations.map((name): Annotation => ({
      name,
      on: 'Service',
      writers: ['user'],
      values: 'any text',
      sentence:
        'Services with the same text may share an address in MetalLB. `takeover plan` does not warn about these.',
    })),
  ]
}

function metallbLeft(objects: readonly KubeObject[]): string[] {
  const byNamespace = Map.groupBy(objects.filter(isWritten), ({ metadata }) => metadata.namespace ?? '')
  return [...byNamespace].map(
    ([namespace, ours]) =>
      `MetalLB continues announcing: ${countsOf(metallbKinds, ours)} stay in namespace ${namespace}. The program that ` +
      'wrote them before eip-admission finds its own under their old names. To end all announcements, run ' +
      `\`kubectl delete ${kubectlNames(metallbKinds)} -n ${namespace} -l ${ownSelector}\`, then ` +
      `${secretDeletion(namespace)}.`,
  )
}
