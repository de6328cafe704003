import type { LoadBalancer, LoadBalancerScheme, Parts } from '../../../announcers/setting.ts'
import type { Reading } from '../../../settings/setting.ts'
import { oneOf } from '../../../settings/words.ts'
import { balancerMetros } from './locations.ts'

const metroCodes = oneOf(balancerMetros.map(({ code }) => code))

/** The value of the load balancer setting by which managed load balancers serve the Services. */
export const managedSchemes: Record<string, LoadBalancerScheme> = {
  emlb: {
    written: 'emlb:///metro',
    meaning:
      "Equinix Metal's managed load balancers in one metro, without Elastic IPs, announcing software and BGP. " +
      `The metros are ${metroCodes}.`,
    parameters: [],
    depth: 1,
    read: readEmlb,
  },
}

function readEmlb({ path: [given] }: Parts): Reading<LoadBalancer> {
  const metro = balancerMetros.find(({ code }) => code === given?.toLowerCase())?.code
  if (metro === undefined) return { right: `the metro of the load balancers after the slashes: ${metroCodes}` }
  return { value: { kind: 'managed', scheme: 'emlb', location: metro } }
}
