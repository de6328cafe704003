import type { KubeObject } from '../../kube/objects.ts'
import type { Annotation } from '../../lib/annotation.ts'
import { isDnsLabel } from '../../lib/names.ts'
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
import { calicoObjects, isClassOfCalico, poolOfStatuses } from './objects.ts'
import { configurationName, isOnlyOurs, ownEntries } from './configuration.ts'
import { calicoResources, entriesAnnotation, isConfiguration, namespaceAnnotation } from './resources.ts'
import { names } from '../../settings/installed-names.ts'
import { shell } from '../../lib/remedy.ts'
import { classText } from '../../settings/service-policy.ts'
import { defineSoftwareCheck } from '../check.ts'

/** Whether Calico itself assigns addresses to the Services that eip-admission serves, even before it serves any. */
const calicoStatuses = defineSoftwareCheck({
  id: 'calico-statuses',
  checks: 'No IPPool makes Calico write the status of the Services that eip-admission serves.',
  good: 'Calico writes no status of the Services that eip-admission serves',
  needs: ['announcer'],
  judge({ announcer: { existing } }, { classes }) {
    const pool = poolOfStatuses(existing)
    const disputed = classes.filter(isClassOfCalico)
    if (pool === undefined || disputed.length === 0) return []
    return {
      level: 'error',
      what: `IPPool ${pool} is for load balancers, so Calico writes the status of ${disputed.map(classText).join(' and ')}`,
      why: 'eip-admission writes it too, so each undoes what the other writes, and nothing new is announced',
      fix: shell`kubectl delete ippools.projectcalico.org ${pool}   # or set --load-balancer-class of \`serve\` and \`install\` to other classes`,
    }
  },
})

const { peers, filters, configurations } = calicoResources

const scheme: LoadBalancerScheme = {
  written: 'calico:///[namespace]',
  meaning:
    'Calico 3.31 or later, with BGP and its API server. eip-admission writes its peers, a filter and the list of ' +
    'addresses, and the status of Services. The namespace is that of calico-node, `calico-system` by default.',
  parameters: [],
  depth: 1,
  read: ({ path: [namespace = 'calico-system'] }) =>
    isDnsLabel(namespace)
      ? { value: { kind: 'calico', namespace } }
      : { right: 'the name of a namespace after the slashes' },
}

const annotations: readonly Annotation[] = [
  {
    name: entriesAnnotation,
    on: 'BGPConfiguration',
    writers: ['eip-admission'],
    values: 'networks of one address, separated by commas',
    sentence: 'Which entries of `spec.serviceLoadBalancerIPs` belong to eip-admission. All others stay as they are.',
  },
  {
    name: namespaceAnnotation,
    on: 'BGPPeer',
    writers: ['eip-admission'],
    values: 'the name of a namespace',
    sentence: `Where the Secret \`${names.bgpSecret}\` is, so that it is removed when the setting chooses other software.`,
  },
]

/** Calico. It announces the address in the status of a Service if its list has that address; we write both. */
export const calicoSoftware: Software<'calico'> = {
  schemes: { calico: scheme },
  needs: 'bgp',
  kinds: ['calico'],
  requests: () => ({ annotations: [], besideSpec: true }),
  annotations,
  sessionsCommand: () => shell`calicoctl node status   # on each node`,
  checks: [calicoStatuses],
  rules: [
    {
      apiGroups: ['projectcalico.org'],
      resources: ['bgppeers', 'bgpfilters', 'bgpconfigurations'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    },
    {
      apiGroups: ['projectcalico.org'],
      resources: ['ippools', 'kubecontrollersconfigurations'],
      verbs: ['get', 'list'],
    },
    secretRule,
  ],
  left: { kinds: [peers, filters, configurations], texts: calicoLeft },
  announcer: ({ namespace }) => ({
    name: 'calico',
    request: (address) => ({ status: { loadBalancer: { ingress: [{ ip: address }] } } }),
    configuration: calicoObjects({ namespace }),
  }),
  former: ({ kind }) => (kind === 'calico' ? undefined : formerCalico),
}

/** Our objects from when the setting chose Calico. Our peers name the namespace of the Secret at that time. */
const formerCalico: FormerConfiguration = {
  selector: ownSelector,
  kinds: [peers, filters],
  shared: [{ resource: configurations, name: configurationName }],
  configurations(found) {
    const ours = found.filter((one) => isWritten(one) || (isConfiguration(one) && ownEntries(one).length > 0))
    if (ours.length === 0) return []
    return secretNamespaces(ours, ofSecret).map((namespace) => calicoObjects({ namespace }))
  },
}

const ofSecret = { annotation: namespaceAnnotation, usual: 'calico-system' }

function calicoLeft(objects: readonly KubeObject[]): string[] {
  const ours = objects.filter((one) => isWritten(one) && !isConfiguration(one))
  const lists = objects.filter(isConfiguration)
  const created = lists.filter(isOnlyOurs)
  const shared = lists.filter((one) => !created.includes(one) && ownEntries(one).length > 0)
  const deletions = [
    ...(ours.length > 0 ? [`\`kubectl delete ${kubectlNames([peers, filters])} -l ${ownSelector}\``] : []),
    ...(ours.length > 0 ? secretNamespaces(ours, ofSecret).map(secretDeletion) : []),
    ...created.map(({ metadata }) => `\`kubectl delete ${kubectlNames([configurations])} ${metadata.name}\``),
  ]
  const counts = countsOf([peers, filters, configurations], [...ours, ...created])
  return [
    ...(deletions.length > 0
      ? [`Calico continues announcing: ${counts} stay. To end all announcements, run ${deletions.join(', then ')}.`]
      : []),
    ...shared.map(
      (one) =>
        `spec.serviceLoadBalancerIPs of BGPConfiguration ${one.metadata.name} has ${ownEntries(one).join(', ')}. To remove ` +
        `these entries of eip-admission, run \`kubectl edit ${kubectlNames([configurations])} ${one.metadata.name}\`.`,
    ),
  ]
}
