import { keyOf } from '../../kube/objects.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import { type SoftwareFinding, defineSoftwareCheck } from '../check.ts'

/** A key of Cilium's ConfigMap: what Cilium takes without it, what we need, and by which value of the chart it comes. */
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
    why: 'LB IPAM gives Services without a class no address',
    isFor: withoutClass,
  },
]

/** Whether Cilium runs with the settings that it needs: a person may have changed them since its kinds were defined. */
export const ciliumSettings = defineSoftwareCheck({
  id: 'cilium-settings',
  checks:
    "Cilium's ConfigMap has its BGP and its LB IPAM on, also for Services without a class where these are served.",
  good: 'Cilium has its BGP and its LB IPAM on',
  needs: ['ciliumConfigs'],
  judge({ ciliumConfigs }, { classes }) {
    const wanted = needed.filter(({ isFor }) => isFor === undefined || classes.includes(isFor))
    return ciliumConfigs.flatMap(({ metadata, data = {} }) =>
      wanted.flatMap(({ key, otherwise, right, value, why }): SoftwareFinding[] => {
        const { [key]: found } = data
        if ((found ?? otherwise) === right) return []
        const at = `-n ${metadata.namespace}`
        return [
          {
            level: 'error',
            what: `ConfigMap ${keyOf({ metadata })} has ${found === undefined ? `no ${key}` : `${key}=${found}`}`,
            why,
            fix: `helm upgrade cilium cilium/cilium ${at} --reuse-values --set ${value}=${right}; kubectl rollout restart ${at} daemonset/cilium deployment/cilium-operator`,
          },
        ]
      }),
    )
  },
})
