import { softwareOf } from '../../../announcers/announcers.ts'
import type { HeldAddress } from '../../../announcers/check.ts'
import { machineIdOf, oneNodeForEach } from '../../../controllers/nodes/node-machine.ts'
import { isReady } from '../../../controllers/nodes/taints.ts'
import { type Node, keyOf } from '../../../kube/objects.ts'
import type { AssignedAddress } from '../../../clouds/ports/assignments.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import { heldByServices } from '../../../inspect/wanted.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import { shell } from '../../../lib/remedy.ts'

const isAssigning = ({ vendor }: Context) => softwareOf(vendor.loadBalancer)?.needs === 'assignment'

export const assignedAddresses = defineCheck({
  id: 'assigned-addresses',
  section: 'Announcing',
  checks: 'If the provider routes each address to one machine, that machine belongs to a node that is Ready.',
  good: 'each address is routed to a node that is Ready',
  needs: ['assigned', 'services', 'records', 'nodes', 'machines'],
  applies: isAssigning,
  judge({ assigned, services, records, nodes, machines }, context) {
    const held = heldByServices(services, records, context)
    const at = new Map(assigned.map((one) => [one.address, one]))
    const ids = context.vendor.providerIds
    const byMachine = new Map(oneNodeForEach(nodes, { ids, machines }).map((node) => [machineIdOf(node, ids), node]))
    return held.flatMap((one) => placeFinding(one, at.get(one.text), byMachine))
  },
})

export const answeringNodes = defineCheck({
  id: 'answering-nodes',
  section: 'Announcing',
  checks:
    'If the provider routes each address to one machine, kube-proxy does not keep nodes from answering for it (strictARP). ' +
    '`doctor` does not see the interfaces of a node.',
  good: 'kube-proxy lets nodes answer for addresses on any interface, as far as kube-system/kube-proxy says',
  needs: ['kubeProxyConfig'],
  applies: isAssigning,
  judge: ({ kubeProxyConfig }) => (kubeProxyConfig ? strictFindings(kubeProxyConfig) : unseenSysctl),
})

const unseenSysctl: Finding = {
  level: 'manual',
  what: 'there is no ConfigMap kube-system/kube-proxy that says whether nodes answer for addresses on any interface',
  why: 'a node with arp_ignore 1 or 2 answers no ARP request for an address that is on lo',
  fix: shell`sysctl net.ipv4.conf.all.arp_ignore   # on each node: 0 is right`,
}

function strictFindings({ data = {} }: NonNullable<Values['kubeProxyConfig']>): Findings {
  if (!Object.values(data).some((text) => /^\s*strictARP:\s*["']?true\b/im.test(text))) return []
  return {
    level: 'warning',
    what: 'ConfigMap kube-system/kube-proxy has strictARP: true',
    why: 'a node then answers no ARP request for an address on lo or kube-ipvs0, where the network asks',
    fix: shell`kubectl -n kube-system edit configmap kube-proxy   # strictARP: false; or put the addresses on the public interface`,
  }
}

function placeFinding(
  { service, text }: HeldAddress,
  found: AssignedAddress | undefined,
  byMachine: ReadonlyMap<string | undefined, Node>,
): Findings {
  const { namespace, name } = service.metadata
  const finding = (level: Finding['level'], what: string, why: string): Finding => {
    const fix = shell`kubectl describe service -n ${namespace} ${name}   # its Events say why`
    return { level, what: `address ${text} of Service ${keyOf(service)} ${what}`, why, fix }
  }
  // Another check reports addresses that the provider does not have.
  if (!found) return []
  const [machine] = found.machines
  if (machine === undefined)
    return finding('error', 'is routed to no machine', 'the Service cannot be reached at this address')
  const node = byMachine.get(machine)
  if (!node)
    return finding('error', `is routed to machine ${machine}, which is not a node of this cluster`, 'no pod runs there')
  if (isReady(node)) return []
  const why = 'no other node is healthy, or the address is about to move'
  return finding('warning', `is routed to node ${node.metadata.name}, which is not Ready`, why)
}
