import { keyOf } from '../../kube/objects.ts'
import type { Workload } from '../../kube/workloads.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import { type SoftwareFindings, defineSoftwareCheck } from '../check.ts'
import { containersOf } from '../shared/programs.ts'
import type { Remedy } from '../../lib/remedy.ts'

/** A key of Cilium's ConfigMap: its default in Cilium, the value that we need, and the chart's value for it. */
type Needed = { key: string; otherwise: string; right: string; value: string; why: string; isFor?: string }

const needed: readonly Needed[] = [
  {
    key: 'enable-bgp-control-plane',
    otherwise: 'false',
    right: 'true',
    value: 'bgpControlPlane.enabled',
    why: 'Cilium has no BGP session, so no router learns an address',
  },
  {
    key: 'enable-lb-ipam',
    otherwise: 'true',
    right: 'true',
    value: 'enableLBIPAM',
    why: 'no Service shows its address, and the address of a deleted one is never withdrawn',
  },
  {
    key: 'default-lb-service-ipam',
    otherwise: 'lbipam',
    right: 'lbipam',
    value: 'defaultLBServiceIPAM',
    why: 'LB IPAM gives no address to Services without a class',
    isFor: withoutClass,
  },
]

/** Whether Cilium has the settings that we need: a person may have changed them since its CRDs were installed. */
export const ciliumSettings = defineSoftwareCheck({
  id: 'cilium-settings',
  checks:
    "Cilium's ConfigMap enables BGP and LB IPAM. If eip-admission serves Services without a class, so does LB IPAM.",
  good: 'BGP and LB IPAM are enabled in Cilium',
  needs: ['ciliumConfigs', 'workloads'],
  judge({ ciliumConfigs, workloads }, { classes }) {
    const wanted = needed.filter(({ isFor }) => isFor === undefined || classes.includes(isFor))
    return ciliumConfigs.flatMap(({ metadata, data = {} }) =>
      wanted.flatMap(({ key, otherwise, right, value, why }): SoftwareFindings => {
        const { [key]: found } = data
        if ((found ?? otherwise) === right) return []
        return {
          level: 'error',
          what: `ConfigMap ${keyOf({ metadata })} has ${found === undefined ? `no ${key}` : `${key}=${found}`}`,
          why,
          fix: upgrade(`${value}=${right}`, { namespace: metadata.namespace ?? '', workloads }),
        }
      }),
    )
  },
})

/** The command names a version: otherwise Helm would take the newest chart and upgrade the cluster's network. */
function upgrade(set: string, { namespace, workloads }: { namespace: string; workloads: readonly Workload[] }): Remedy {
  const version = agentVersion(workloads.filter(({ metadata }) => metadata.namespace === namespace))
  const command =
    `helm upgrade cilium cilium/cilium -n ${namespace} --version ${version ?? 'VERSION'} --reuse-values --set ${set} ` +
    `&& kubectl rollout restart -n ${namespace} daemonset/cilium deployment/cilium-operator`
  return version === undefined ? { command, text: `VERSION is that of: \`helm list -n ${namespace}\`` } : { command }
}

/** The version in the name of the agents' image, which is also the chart's. */
function agentVersion(workloads: readonly Workload[]): string | undefined {
  const agents = containersOf(workloads, /(^|\/)cilium:v?\d/)
  const versions = new Set(agents.map(({ image }) => /:v?(\d+\.\d+\.\d+[^@]*)/.exec(image)?.[1]))
  const [version, ...others] = versions
  return others.length === 0 ? version : undefined
}
