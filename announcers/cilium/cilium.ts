import type { KubeObject } from '../../kube/objects.ts'
import type { Annotation } from '../../lib/annotation.ts'
import { isDnsLabel } from '../../lib/names.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import type { FormerConfiguration } from '../announcer.ts'
import type { LoadBalancerScheme } from '../setting.ts'
import {
  countsOf,
  isWritten,
  kubectlNames,
  ownSelector,
  secretDeletion,
  secretRule,
  secretNamespaces,
} from '../shared/own-objects.ts'
import type { Software } from '../software.ts'
import { ciliumSettings } from './checks.ts'
import { bgpClass, ciliumObjects } from './objects.ts'
import { ciliumResources, secretsAnnotation } from './resources.ts'
import { names } from '../../settings/installed-names.ts'
import { shell } from '../../lib/remedy.ts'

/**
 * Annotations by which a Service requests addresses. The second, its name until 1.15, applies only without the first.
 */
const [request, oldRequest] = ['lbipam.cilium.io/ips', 'io.cilium/lb-ipam-ips']

/**
 * Services with the same key may share an address, across namespaces if both name the other's in the second annotation.
 */
const [sharingKey, sharingNamespaces] = ['lbipam.cilium.io/sharing-key', 'lbipam.cilium.io/sharing-cross-namespace']

/** An address that no pool has. Without any request, the Service would keep its own. */
const nobodysAddress = '0.0.0.0'

const scheme: LoadBalancerScheme = {
  written: 'cilium:///[bgp-secrets-namespace]',
  meaning:
    'Cilium 1.18 or later, with LB IPAM and the BGP control plane. eip-admission writes its pools, sessions and ' +
    'advertisement. The namespace is that of `bgpControlPlane.secretsNamespace.name`, `kube-system` by default.',
  parameters: [],
  depth: 1,
  read: ({ path: [secretsNamespace = 'kube-system'] }) =>
    isDnsLabel(secretsNamespace)
      ? { value: { kind: 'cilium', secretsNamespace } }
      : { right: 'the name of a namespace after the slashes' },
}

const { peerConfigs, advertisements, overrides, clusterConfigs, pools } = ciliumResources
const ownKinds = [peerConfigs, advertisements, overrides, clusterConfigs, pools]

const annotations: readonly Annotation[] = [
  {
    name: request,
    on: 'Service',
    writers: ['user', 'eip-admission'],
    values: 'IP addresses, separated by commas',
    sentence: `Requests a user-chosen address from Cilium. eip-admission writes \`${nobodysAddress}\`, which is in no pool, so Cilium withdraws the address.`,
  },
  {
    name: oldRequest,
    on: 'Service',
    writers: ['user'],
    values: 'IP addresses, separated by commas',
    sentence: 'The name of the same annotation up to Cilium 1.15.',
  },
  {
    name: sharingKey,
    on: 'Service',
    writers: ['user', 'eip-admission'],
    values: 'any text',
    sentence:
      'Services with the same text may share an address in Cilium. If the user does not set one, eip-admission writes the address.',
  },
  {
    name: sharingNamespaces,
    on: 'Service',
    writers: ['user'],
    values: 'names of namespaces, separated by commas',
    sentence: "Any Service in these namespaces can get this Service's address in Cilium; `*` means every namespace.",
  },
  {
    name: secretsAnnotation,
    on: 'CiliumBGPPeerConfig',
    writers: ['eip-admission'],
    values: 'the name of a namespace',
    sentence: `Where the Secret \`${names.bgpSecret}\` is, so that it is removed when the setting chooses other software.`,
  },
]

/** Cilium. Its LB IPAM writes the status of a Service, and its agents announce that address. */
export const ciliumSoftware: Software<'cilium'> = {
  schemes: { cilium: scheme },
  needs: 'bgp',
  kinds: ['cilium'],
  annotations,
  requestAnnotations: [request, oldRequest],
  requests: () => ({ annotations: [request, oldRequest], besideSpec: true, nothing: nobodysAddress, sharingKey }),
  silencing: { [request]: nobodysAddress },
  classes: [withoutClass, bgpClass],
  matchesFamilies: true,
  sessionsCommand: () => shell`kubectl get ciliumbgpnodeconfigs -o yaml   # status.bgpInstances[].peers[].peeringState`,
  checks: [ciliumSettings],
  sessions: {
    needs: ['ciliumSessions'],
    configured: ({ ciliumSessions }) =>
      ciliumSessions.map(({ metadata, spec }) => ({
        where: `CiliumBGPClusterConfig ${metadata.name}`,
        routers: (spec.bgpInstances ?? []).flatMap(({ peers = [] }) => peers.map(({ peerAddress }) => peerAddress)),
        removal: `kubectl delete ciliumbgpclusterconfigs ${metadata.name}`,
      })),
  },
  rules: [
    {
      apiGroups: ['cilium.io'],
      resources: [
        'ciliumloadbalancerippools',
        'ciliumbgpclusterconfigs',
        'ciliumbgpnodeconfigoverrides',
        'ciliumbgppeerconfigs',
        'ciliumbgpadvertisements',
      ],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
    },
    { apiGroups: ['cilium.io'], resources: ['ciliumbgpnodeconfigs'], verbs: ['list'] },
    secretRule,
  ],
  left: { kinds: ownKinds, texts: ciliumLeft },
  announcer: ({ secretsNamespace }) => ({
    name: 'cilium',
    // spec.loadBalancerIP is a request already. The ledger adds the sharing key, which a user may have written.
    request: () => ({}),
    refusal: ({ status }) => {
      const verdict = status?.conditions?.find(({ type }) => type === 'cilium.io/IPAMRequestSatisfied')
      return verdict?.status === 'False' ? `${verdict.reason}: ${verdict.message}` : undefined
    },
    withdrawal: {
      annotations: { [request]: nobodysAddress, [oldRequest]: null },
      clearsStatus: true,
      restoresStatus: true,
    },
    configuration: ciliumObjects({ secretsNamespace }),
  }),
  former: ({ kind }) => (kind === 'cilium' ? undefined : formerCilium),
}

/**
 * Our objects from when the setting chose Cilium. Our peer configurations name the namespace of the Secret at that
 * time.
 */
const formerCilium: FormerConfiguration = {
  selector: ownSelector,
  kinds: ownKinds,
  configurations: (found) =>
    found.length === 0
      ? []
      : secretNamespaces(found, ofSecret).map((secretsNamespace) => ciliumObjects({ secretsNamespace })),
}

const ofSecret = { annotation: secretsAnnotation, usual: 'kube-system' }

function ciliumLeft(objects: readonly KubeObject[]): string[] {
  const ours = objects.filter(isWritten)
  if (ours.length === 0) return []
  const deletions = [
    `\`kubectl delete ${kubectlNames(ownKinds)} -l ${ownSelector}\``,
    ...secretNamespaces(ours, ofSecret).map(secretDeletion),
  ]
  return [
    `Cilium continues announcing: ${countsOf(ownKinds, ours)} stay. To end all announcements, run ${deletions.join(', then ')}.`,
  ]
}
