import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import type { Container, Workload } from '../../kube/workloads.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import type { Announcer } from '../announcer.ts'
import type { Software } from '../software.ts'
import { type SoftwareFindings, defineSoftwareCheck } from '../check.ts'
import { containersOf, notReady } from '../shared/programs.ts'
import { type Remedy, shell } from '../../lib/remedy.ts'

const kubeVipCheck = defineSoftwareCheck({
  id: 'kube-vip',
  checks:
    'kube-vip runs with svc_enable, bgp_enable and the prefix of the node annotations, and its version is not 1.0.0 to 1.1.2, which read none.',
  good: 'kube-vip runs with the settings that it needs',
  needs: ['workloads'],
  judge({ workloads }, { peerDomain }) {
    const found = containersOf(workloads, /(^|\/)kube-vip(-iptables)?(?=[:@]|$)/)
    if (found.length === 0)
      return {
        level: 'error',
        isUnseen: true,
        what: 'no DaemonSet, Deployment or static pod of kube-system runs an image of kube-vip',
        why: 'nothing announces the addresses, unless it runs under another image name or outside the cluster',
        fix: shell`kubectl get pods -A -o wide | grep -i kube-vip   # if there is none, install kube-vip`,
      }
    return found
      .flatMap(({ workload, container }) => [
        notReady(workload),
        brokenVersion(workload, container),
        unfitSettings(workload, container, peerDomain),
      ])
      .flat()
  },
})

function brokenVersion(workload: Workload, { name, image = '' }: Container): SoftwareFindings {
  if (!/:v?1\.(0\.\d+|1\.[0-2])(?!\d)/.test(image)) return []
  const good = image.replace(/:v?1\..*$/, ':v1.2.3')
  const command = shell`kubectl set image ${placeOf(workload)} ${name}=${good}   # or a later version`
  return {
    level: 'error',
    what: `${workload.kind} ${keyOf(workload)} runs ${image}`,
    why: 'these versions start BGP before they read the annotations of their node, and so have no peer',
    fix: fixOf(workload, { command, change: `its image to ${good} or later` }),
  }
}

function unfitSettings(
  workload: Workload,
  { name: container, env = [], args = [] }: Container,
  peerDomain: string,
): SoftwareFindings {
  const flags = args.flatMap((arg, n) => (arg === '--annotations' ? (args[n + 1] ?? []) : arg.split('=').slice(1)))
  const wanted = { svc_enable: 'true', bgp_enable: 'true', annotation: peerDomain }
  return Object.entries(wanted).flatMap(([name, right]): SoftwareFindings => {
    const value = env.find((one) => one.name === name)?.value
    if (value === right || flags.includes(right)) return []
    return {
      level: 'warning',
      what: `${workload.kind} ${keyOf(workload)}: ${name} is ${value === undefined ? 'not set' : JSON.stringify(value)}`,
      why: 'kube-vip then announces no Service by the BGP peers in the annotations of its node',
      fix: fixOf(workload, {
        command: shell`kubectl set env ${placeOf(workload)} -c ${container} ${name}=${right}`,
        change: `the variable ${name} to ${right}`,
      }),
    }
  })
}

/** A static pod changes only through its manifest on the node. */
function fixOf({ kind, metadata }: Workload, { command, change }: { command: Remedy; change: string }): Remedy {
  if (kind !== 'Pod') return command
  const node = metadata.ownerReferences?.[0]?.name ?? 'its node'
  return `set ${change} in the manifest of ${metadata.name} on ${node}, in the folder of static pods`
}

function placeOf({ kind, metadata: { namespace, name } }: Workload): string {
  return `-n ${namespace} ${kind.toLowerCase()}/${name}`
}

/** The annotation by which a Service requests an address from kube-vip. */
const kubeVipRequestAnnotation = 'kube-vip.io/loadbalancerIPs'

/** The annotation that makes kube-vip ignore all events of a Service. */
const kubeVipIgnoreAnnotation = 'kube-vip.io/ignore'

/** kube-vip. It reads its BGP peers from the annotations of its node. */
export const kubeVipSoftware: Software<'kube-vip'> = {
  schemes: {
    'kube-vip': {
      written: 'kube-vip://',
      meaning:
        'kube-vip. It reads the address from the Service and its BGP peers from the node. kube-vip 1.0.0 to 1.1.2 cannot read these peers.',
      parameters: [],
      depth: 0,
      read: () => ({ value: { kind: 'kube-vip' } }),
    },
  },
  needs: 'bgp',
  kinds: ['kube-vip'],
  annotations: [
    {
      name: kubeVipRequestAnnotation,
      on: 'Service',
      writers: ['user'],
      values: 'an IP address',
      sentence:
        'Requests a user-chosen address from kube-vip. eip-admission never adds this annotation, because kube-vip 1.2 would then withdraw the address. It removes the annotation together with the address.',
    },
  ],
  requestAnnotations: [kubeVipRequestAnnotation],
  requests: () => ({ annotations: [kubeVipRequestAnnotation], besideSpec: true, stopsIfAdded: 'kube-vip' }),
  classes: [withoutClass, 'kube-vip.io/kube-vip-class'],
  readsNodePeers: true,
  sessionsCommand: () => 'read the log of the pod of kube-vip on each node',
  checks: [kubeVipCheck],
  announcer: kubeVip,
}

/**
 * kube-vip reads its BGP peers from annotations of its node, and the address from the Service. We never write the
 * status: kube-vip writes it with ports, and starts over with a Service if another program wrote its status.
 */
export function kubeVip(): Announcer {
  return {
    name: 'kube-vip',
    // For every release, spec.loadBalancerIP in the created Service is request enough. kube-vip 1.2 treats an
    // annotation that is added later as a change, and announces nothing for the Service until it is restarted.
    request: () => ({}),
    // A user or a predecessor may have set it. Without it kube-vip reads the address from the status.
    withdrawal: { annotations: { [kubeVipRequestAnnotation]: null }, clearsStatus: false },
    // Measured with 0.8.10 and 1.2.3: it keeps a route when the type of the Service changes. 1.2.3 then announces
    // nothing for the Service until it is restarted, whatever changes.
    withdrawsOnlyOnDeletion: { restoring, afterReturn },
  }
}

const afterReturn =
  'kube-vip 1.2 does so until it is restarted. Restart it (`kubectl rollout restart` its DaemonSet), or delete the ' +
  'Service and create it again'

/**
 * kube-vip 0.8.10 to 1.2.3 ignores the deletion of a Service that is no LoadBalancer, and keeps the route. It does the
 * same if an annotation tells it to ignore the Service. The address is restored too, because kube-vip stops and waits
 * when a Service has none.
 */
function restoring(service: Service, address: string): object | undefined {
  const { metadata, spec } = service
  const isIgnored = metadata.annotations?.[kubeVipIgnoreAnnotation] === 'true'
  const heeded = { metadata: { annotations: { [kubeVipIgnoreAnnotation]: null } } }
  if (spec.type === 'LoadBalancer') {
    // An address that kube-vip ignored from the start was never announced, and should not be.
    const isShown = ingressOf(service).some(({ ip }) => ip === address)
    return isIgnored && isShown ? heeded : undefined
  }
  const { ports = [] } = spec
  return {
    ...(isIgnored && heeded),
    spec: {
      type: 'LoadBalancer',
      loadBalancerIP: address,
      // No client will connect, so this takes no node port: there may be none left.
      allocateLoadBalancerNodePorts: false,
      ...(spec.type === 'ExternalName' && { externalName: null }),
      // A LoadBalancer needs one, and an ExternalName does not.
      ...(ports.length === 0 && { ports: [{ port: 80 }] }),
    },
  }
}
