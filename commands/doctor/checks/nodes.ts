import { projectText } from '../../../ledger/identity/project-plan.ts'
import { machineIdOf, oneNodeForEach } from '../../../controllers/nodes/node-machine.ts'
import { formatProviderId, readProviderId } from '../../../controllers/nodes/provider-id.ts'
import { isReady, isUninitialized } from '../../../controllers/nodes/taints.ts'
import type { Node } from '../../../kube/objects.ts'
import { type Finding, type Findings, defineCheck } from '../check.ts'
import type { Context } from '../../../inspect/facts.ts'
import { shell } from '../../../lib/remedy.ts'

export const providerIds = defineCheck({
  id: 'provider-ids',
  section: 'Nodes',
  checks:
    'Every node has a providerID of this provider. A missing or foreign one shows a wrong --cloud-provider of the kubelet.',
  good: 'every node has a providerID of this cloud',
  needs: ['nodes'],
  judge: ({ nodes }, { vendor }) => nodes.flatMap((node) => providerIdFinding(node, vendor.providerIds)),
})

function providerIdFinding({ metadata: { name }, spec }: Node, ids: Context['vendor']['providerIds']): Findings {
  const { kind } = readProviderId(spec.providerID, ids)
  if (kind === 'machine' || ids.neighbours?.test(spec.providerID ?? '')) return []
  const right = formatProviderId('<id of its machine>', ids)
  if (kind === 'absent')
    return {
      level: 'error',
      what: `node ${name} has no providerID`,
      why: 'its machine is not known, so it gets no addresses, labels or BGP peers',
      fix: shell`kubectl describe node ${name}   # the Events say why; the node must have the name of its machine`,
    }
  const isForeign = kind === 'foreign'
  return {
    level: 'error',
    what: `node ${name} has the providerID ${JSON.stringify(spec.providerID)}, where ${right} would be right`,
    why: isForeign
      ? 'the kubelet, or another program, wrote it for another cloud, and it cannot be changed'
      : 'it names no machine of this cloud, and it cannot be changed',
    fix: `start the kubelet with --cloud-provider=external and no --provider-id, then: \`kubectl delete node ${name}\``,
  }
}

export const sharedMachines = defineCheck({
  id: 'shared-machines',
  section: 'Nodes',
  checks: 'No two nodes have the providerID of the same machine.',
  good: 'every node has its own machine',
  needs: ['nodes', 'machines'],
  judge({ nodes, machines }, { vendor }) {
    const ids = vendor.providerIds
    const speakers = new Set(oneNodeForEach(nodes, { ids, machines }))
    return [...Map.groupBy(nodes, (node) => machineIdOf(node, ids))].flatMap(([id, objects]): Findings => {
      const silent = objects.filter((node) => !speakers.has(node)).map(({ metadata: { name } }) => name)
      if (id === undefined || silent.length === 0) return []
      const names = objects.map(({ metadata: { name } }) => name).join(', ')
      const speaker = objects.find((node) => speakers.has(node))?.metadata.name
      return {
        level: 'error',
        what: `nodes ${names} have the providerID of the same machine, ${id}`,
        why: `they share its addresses and BGP peers, are deleted together with it, and only the state of ${speaker} counts`,
        fix: shell`kubectl delete node ${silent.join(' ')}   # or another of them: the one that is not on that machine`,
      }
    })
  },
})

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
      fix: shell`kubectl describe node ${name}   # the Events say why; also check whether \`serve\` is running`,
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
    const placed = nodes.flatMap((node) => {
      const id = machineIdOf(node, vendor.providerIds)
      return id === undefined ? [] : [{ node, id }]
    })
    const missing = placed.filter(({ id }) => !known.has(id))
    if (missing.length > 1 && missing.length === placed.length) return otherProject(missing.length, vendor)
    return missing.map((one) => missingMachine(one, vendor))
  },
})

/**
 * Reports a node without its machine. Only `serve` deletes such a node, once it is certain: here the machine may also
 * be in another project.
 */
function missingMachine({ node, id }: { node: Node; id: string }, { cloud, project }: Context['vendor']): Finding {
  const { name } = node.metadata
  const found = { level: 'warning', what: `node ${name}: machine ${id} is not in the project` } as const
  const needed = `the machines of this cluster must be in ${projectText(project)}`
  if (isReady(node))
    return {
      ...found,
      why: 'the node is ready, so its machine still exists: the providerID names a machine in another project',
      fix: `look for machine ${id} in your other projects at ${cloud.name}; ${needed}`,
    }
  return {
    ...found,
    why: 'the machine no longer exists, and `serve` deletes the node once that is certain; or it is in another project',
    fix: shell`kubectl describe node ${name}   # the Events say what \`serve\` does; ${needed}`,
  }
}

/** Reports the wrong project: machines do not all disappear at once, so no node should be deleted. */
function otherProject(count: number, { project }: Context['vendor']): Finding {
  return {
    level: 'error',
    what: `none of the machines of ${count} nodes is in ${projectText(project)}`,
    why: 'the settings name a different project than the one that the nodes are in: no node gets addresses or BGP peers',
    fix: `set ${project.setting} to the project of the nodes, with a token for it, and restart \`serve\``,
  }
}
