import { formatProviderId, readProviderId } from '../../../controllers/nodes/provider-id.ts'
import { isUninitialized } from '../../../controllers/nodes/taints.ts'
import type { Node } from '../../../kube/objects.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Context } from '../../../inspect/facts.ts'

type ProviderIds = Context['vendor']['providerIds']

export const providerIds = defineCheck({
  id: 'provider-ids',
  section: 'Nodes',
  checks:
    'Every node has a providerID of this cloud. A missing or foreign one shows a wrong --cloud-provider of the kubelet.',
  good: 'every node has a providerID of this cloud',
  needs: ['nodes'],
  judge: ({ nodes }, { vendor }) => nodes.flatMap((node) => providerIdFinding(node, vendor.providerIds)),
})

function providerIdFinding({ metadata: { name }, spec }: Node, ids: ProviderIds): Finding[] {
  const { kind } = readProviderId(spec.providerID, ids)
  if (kind === 'machine') return []
  const right = formatProviderId('<id of its machine>', ids)
  if (kind === 'absent')
    return [
      {
        level: 'error',
        what: `node ${name} has no providerID`,
        why: 'its machine is not known, so it gets no addresses, labels or BGP peers',
        fix: `kubectl describe node ${name}   # the Events say why; the name of the node must be that of its machine`,
      },
    ]
  const isForeign = kind === 'foreign'
  return [
    {
      level: 'error',
      what: `node ${name} has the providerID ${JSON.stringify(spec.providerID)}, where ${right} would be right`,
      why: isForeign
        ? 'the kubelet, or another program, wrote it for another cloud, and it cannot be changed'
        : 'it names no machine of this cloud, and it cannot be changed',
      fix: `start the kubelet with --cloud-provider=external and no --provider-id, then: kubectl delete node ${name}`,
    },
  ]
}

export const uninitializedNodes = defineCheck({
  id: 'uninitialized-nodes',
  section: 'Nodes',
  checks: 'No node waits with the taint `uninitialized`.',
  good: 'no node waits to be initialized',
  needs: ['nodes'],
  judge: ({ nodes }) =>
    nodes.filter(isUninitialized).map(({ metadata: { name } }) => ({
      level: 'error',
      what: `node ${name} has the taint node.cloudprovider.kubernetes.io/uninitialized`,
      why: 'no pod runs there until the cloud provider has found its machine',
      fix: `kubectl describe node ${name}   # the Events say why; look also whether \`serve\` runs`,
    })),
})

export const nodeMachines = defineCheck({
  id: 'node-machines',
  section: 'Nodes',
  checks: 'The machine of every node is in the project.',
  good: 'the machine of every node is in the project',
  needs: ['nodes', 'machines'],
  judge({ nodes, machines }, { vendor }) {
    const known = new Set(machines.map(({ id }) => id))
    return nodes.flatMap(({ metadata: { name }, spec }): Finding[] => {
      const read = readProviderId(spec.providerID, vendor.providerIds)
      if (read.kind !== 'machine' || known.has(read.id)) return []
      return [
        {
          level: 'warning',
          what: `node ${name}: machine ${read.id} is not in the project`,
          why: 'the machine is gone, or the token is of another project; the node is deleted once that is certain',
          fix: `kubectl delete node ${name}   # only if its machine is really gone`,
        },
      ]
    })
  },
})
