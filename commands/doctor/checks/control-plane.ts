import { machineIdOf } from '../../../controllers/nodes/node-machine.ts'
import type { Node } from '../../../kube/objects.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { shownAddresses } from '../../../ledger/record/address-use.ts'
import { type Findings, defineCheck } from '../check.ts'
import type { Context } from '../../../inspect/facts.ts'
import { shell } from '../../../lib/remedy.ts'

const isGuarded = ({ vendor }: Context) => vendor.controlPlane !== undefined
const why = 'no guardian can keep the address on an API server that answers'

export const controlPlaneReservation = defineCheck({
  id: 'control-plane-reservation',
  section: 'Control-plane address',
  checks: 'The tag of the control-plane address finds exactly one reservation.',
  good: 'the tag finds exactly one reservation',
  needs: ['controlPlane'],
  applies: isGuarded,
  judge({ controlPlane }, { vendor }) {
    const { tag = '' } = vendor.controlPlane ?? {}
    if (controlPlane.length === 1) return []
    const found = controlPlane.map(({ id, address }) => `${id} (${address})`)
    return {
      level: 'error',
      what: `the tag ${tag} finds ${found.length === 0 ? 'no reservation' : `${found.length} reservations: ${found.join(', ')}`}`,
      why,
      fix: `put the tag ${tag} at ${vendor.cloud.name} on the reservation of the control-plane address, and on no other`,
    }
  },
})

export const controlPlaneHolder = defineCheck({
  id: 'control-plane-holder',
  section: 'Control-plane address',
  checks: 'The control-plane address is assigned to one machine, and that is the machine of a control-plane node.',
  good: 'the control-plane address is on a control-plane node',
  needs: ['controlPlane', 'nodes'],
  applies: isGuarded,
  judge({ controlPlane, nodes }, { vendor }) {
    const [found, ...others] = controlPlane
    if (!found || others.length > 0) return []
    const { address, machines } = found
    const [holder] = machines
    const fix = shell`kubectl get nodes -l node-role.kubernetes.io/control-plane -o wide   # a running guardian repairs it`
    if (holder === undefined || machines.length > 1)
      return {
        level: 'error',
        what: `the control-plane address ${address} is assigned to ${machines.length} machines`,
        why: holder === undefined ? 'the API server cannot be reached at this address' : why,
        fix,
      }
    const isHeldWell = nodes.some((node) => isControlPlane(node) && machineIdOf(node, vendor.providerIds) === holder)
    if (isHeldWell) return []
    const what = `the control-plane address ${address} is assigned to machine ${holder}, which is not a control-plane node`
    return { level: 'error', what, why: 'no API server answers there', fix }
  },
})

function isControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return 'node-role.kubernetes.io/control-plane' in labels || 'node-role.kubernetes.io/master' in labels
}

export const mirrorService = defineCheck({
  id: 'mirror-service',
  section: 'Control-plane address',
  checks: 'The mirror Service exists and shows the control-plane address, and no other.',
  good: 'the mirror Service shows the control-plane address',
  needs: ['controlPlane', 'mirror'],
  applies: isGuarded,
  judge({ controlPlane, mirror }, { vendor }): Findings {
    const [found] = controlPlane
    const key = vendor.policy.controlPlaneService
    const fix = shell`kubectl describe service -n ${key.replace('/', ' ')}   # a running guardian writes it`
    const reason = 'lookups of the control-plane address in the cluster find a wrong address or none'
    if (!found || controlPlane.length > 1) return []
    if (!mirror) return { level: 'warning', what: `Service ${key} does not exist`, why: reason, fix }
    const shown = shownAddresses(mirror, []).map(({ address }) => address)
    const others = shown.filter((address) => address !== canonicalIpAddress(found.address))
    if (shown.length > 0 && others.length === 0) return []
    const what = `Service ${key} shows ${shown.length === 0 ? 'no address' : [...new Set(shown)].join(', ')}, not ${found.address}`
    return { level: 'warning', what, why: reason, fix }
  },
})
