import { softwareOf } from '../../../announcers/announcers.ts'
import { machineIdOf, oneNodeForEach } from '../../../controllers/nodes/node-machine.ts'
import { isReady } from '../../../controllers/nodes/taints.ts'
import { type Node, keyOf } from '../../../kube/objects.ts'
import type { AssignedAddress } from '../../../clouds/ports/assignments.ts'
import { type Held, heldByServices } from '../../../inspect/held.ts'
import { type Finding, defineCheck } from '../check.ts'

const fix = (service: string) => `kubectl describe service ${service}   # its Events say why`

export const assignedAddresses = defineCheck({
  id: 'assigned-addresses',
  section: 'Announcing',
  checks: 'Where the cloud leads each address to one machine: that is the machine of a node that is Ready.',
  good: 'each address leads to a node that is Ready',
  needs: ['assigned', 'services', 'records', 'nodes', 'machines'],
  applies: ({ vendor }) => softwareOf(vendor.loadBalancer)?.needs === 'assignment',
  judge({ assigned, services, records, nodes, machines }, context) {
    const held = heldByServices(services, records, context)
    const at = new Map(assigned.map((one) => [one.address, one]))
    const ids = context.vendor.providerIds
    const byMachine = new Map(oneNodeForEach(nodes, { ids, machines }).map((node) => [machineIdOf(node, ids), node]))
    return held.flatMap((one) => placeFinding(one, at.get(one.text), byMachine))
  },
})

function placeFinding(
  { service, text }: Held,
  found: AssignedAddress | undefined,
  byMachine: ReadonlyMap<string | undefined, Node>,
): Finding[] {
  const { namespace, name } = service.metadata
  const finding = (level: Finding['level'], what: string, why: string): Finding[] => [
    { level, what: `address ${text} of Service ${keyOf(service)} ${what}`, why, fix: fix(`-n ${namespace} ${name}`) },
  ]
  // Another check names addresses that the cloud does not have.
  if (!found) return []
  const [machine] = found.machines
  if (machine === undefined) return finding('error', 'leads to no machine', 'nobody reaches the Service by it')
  const node = byMachine.get(machine)
  if (!node) return finding('error', `leads to machine ${machine}, which is no node of this cluster`, 'no pod is there')
  if (isReady(node)) return []
  const why = 'no other node is well, or the address is about to move'
  return finding('warning', `leads to node ${node.metadata.name}, which is not Ready`, why)
}
