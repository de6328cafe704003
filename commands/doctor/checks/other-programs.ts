import { isControlPlaneGuarded } from '../../../clouds/ports/cloud-provider.ts'
import {
  type Served,
  overlapRemedy,
  overlapWith,
  servedBy,
} from '../../../controllers/predecessors/other-cloud-controller.ts'
import { type Node, keyOf } from '../../../kube/objects.ts'
import { names } from '../../../settings/installed-names.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease.ts'
import { type Workload, containersIn, isRunning } from '../../../kube/workloads.ts'
import { predecessorIn } from '../../../inspect/find-predecessors.ts'
import { replacedPrograms } from '../../../inspect/predecessors.ts'
import { type Findings, defineCheck } from '../check.ts'
import type { Values } from '../../../inspect/facts.ts'
import { shell } from '../../../lib/remedy.ts'

export const runningPredecessor = defineCheck({
  id: 'predecessor',
  section: 'Other programs',
  checks: `No program that eip-admission replaces runs: ${replacedPrograms}.`,
  good: 'no program that eip-admission replaces runs',
  needs: ['workloads'],
  judge: ({ workloads }) => workloads.flatMap(predecessorFinding),
})

function predecessorFinding(workload: Workload): Findings {
  const { kind, metadata } = workload
  const found = predecessorIn(containersIn(workload), metadata)
  if (!found || !isRunning(workload)) return []
  const at = `-n ${metadata.namespace}`
  return {
    level: 'error',
    what: `${kind} ${keyOf(workload)} runs ${found.image}`,
    why: 'both write the same Services, nodes and MetalLB objects; without leader election both at the same time',
    fix:
      {
        Deployment: shell`kubectl scale deployment ${at} ${metadata.name} --replicas=0`,
        Pod: `move its manifest out of the folder of static pods on ${metadata.ownerReferences?.[0]?.name}`,
      }[kind] ?? shell`kubectl delete daemonset ${at} ${metadata.name}`,
  }
}

export const otherCloudControllers = defineCheck({
  id: 'other-cloud-controllers',
  section: 'Other programs',
  checks:
    'No other cloud controller manager writes the same nodes or Services. It is seen by its image or name, and by the addresses that it wrote on nodes.',
  good: 'no other cloud controller manager writes the same objects',
  needs: ['workloads', 'nodes'],
  judge({ workloads, nodes }, { settings }) {
    const served = servedBy(settings)
    const found = workloads.filter(isRunning).flatMap((workload) => overlapFinding(workload, served))
    const isLeft = served.leftControllers.includes('cloud-node')
    // It may run where no workload shows it, for example in a control plane that a vendor runs.
    return found.length > 0 || isLeft ? found : addressWriterFinding(nodes)
  },
})

function overlapFinding(workload: Workload, served: Served): Findings {
  const overlap = overlapWith(containersIn(workload), served)
  if (!overlap || overlap.both.length === 0) return []
  const both = overlap.both.join(' and ')
  return {
    level: 'error',
    what: `${workload.kind} ${keyOf(workload)} runs ${overlap.image}, and both programs write ${both}`,
    why: 'each undoes what the other one writes, and a Service may be paid for twice',
    fix: shell`kubectl edit ${workload.kind.toLowerCase()} -n ${workload.metadata.namespace} ${workload.metadata.name}   # ${overlapRemedy(overlap)}`,
  }
}

function addressWriterFinding(nodes: readonly Node[]): Findings {
  const writers = nodes.flatMap(({ metadata: { name, managedFields = [] } }) =>
    managedFields.filter(isOtherAddressWriter).map(({ manager = '' }) => ({ name, manager })),
  )
  const [first] = writers
  if (!first) return []
  return {
    level: 'warning',
    what: `${first.manager} has written the addresses of node ${first.name}`,
    why: 'if it is still running, it and eip-admission keep overwriting them',
    fix: shell`kubectl get node ${first.name} -o yaml --show-managed-fields   # ${overlapRemedy({ image: first.manager, both: ['nodes'] })}`,
  }
}

type ManagedFieldsEntry = NonNullable<Node['metadata']['managedFields']>[number]

function isOtherAddressWriter({ manager = '', subresource, fieldsV1 }: ManagedFieldsEntry): boolean {
  const isOther = manager.includes('cloud-controller-manager') && !manager.includes('eip-admission')
  const { 'f:addresses': addresses } = ((fieldsV1 ?? {}) as { 'f:status'?: Record<string, unknown> })['f:status'] ?? {}
  return isOther && subresource === 'status' && addresses !== undefined
}

export const leader = defineCheck({
  id: 'leader',
  section: 'Other programs',
  checks: 'A `serve` process of eip-admission, and no other program, holds the leader lease.',
  good: 'a `serve` process of eip-admission leads',
  needs: ['leases', 'server'],
  applies: ({ settings }) => settings.process.leaderElect,
  judge({ leases, server }, { now, settings: { process } }) {
    const { leaseNamespace, leaseName } = process
    const place = `lease ${leaseNamespace}/${leaseName}`
    const lease = leases.find((one) => keyOf(one) === `${leaseNamespace}/${leaseName}`)
    if (!lease || !isHeld(lease, timeOf(server, now)))
      return {
        level: 'error',
        what: lease ? `no process renews the ${place}` : `the ${place} does not exist`,
        why: 'no `serve` runs the controllers: nothing is repaired, announced or released',
        fix: shell`kubectl get pods -n ${process.namespace} -o wide   # start \`serve\`, or read its log`,
      }
    const { holderIdentity = '' } = lease.spec ?? {}
    if (isOwnIdentity(holderIdentity)) return []
    return {
      level: 'error',
      what: `the ${place} is held by ${holderIdentity}, which is not eip-admission`,
      why: '`serve` waits for the lease, and runs no controller until that program stops',
      fix: shell`kubectl get lease -n ${leaseNamespace} ${leaseName} -o yaml   # stop its holder`,
    }
  },
})

export const guardianLease = defineCheck({
  id: 'control-plane-guardian',
  section: 'Control-plane address',
  checks: 'A guardian holds the lease of the control-plane address.',
  good: 'a guardian watches the control-plane address',
  needs: ['leases', 'server'],
  applies: ({ vendor }) => isControlPlaneGuarded(vendor),
  judge({ leases, server }, { now, settings: { process } }) {
    const key = `${process.leaseNamespace}/${names.controlPlaneLease}`
    const lease = leases.find((one) => keyOf(one) === key)
    if (lease && isHeld(lease, timeOf(server, now))) return []
    return {
      level: 'error',
      what: lease ? `no process renews the lease ${key}` : `the lease ${key} does not exist`,
      why: 'if the machine of the control-plane address fails, nothing moves it',
      fix: shell`kubectl get pods -n ${process.namespace} -o wide   # run a guardian on each control-plane node`,
    }
  },
})

/**
 * The time on the API server's clock, because a lease's holder should agree with that clock, not with this machine's.
 */
function timeOf({ clockAheadMs }: Pick<Values['server'], 'clockAheadMs'>, now: Date): Date {
  return new Date(now.getTime() + clockAheadMs)
}
