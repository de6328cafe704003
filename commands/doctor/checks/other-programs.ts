import { isControlPlaneGuarded } from '../../../clouds/ports/cloud-provider.ts'
import { keyOf } from '../../../kube/objects.ts'
import { names } from '../../../settings/installed-names.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease-holder.ts'
import { predecessorIn } from '../../../inspect/find-predecessors.ts'
import { replacedPrograms } from '../../../inspect/predecessors.ts'
import { type Finding, defineCheck } from '../check.ts'
import type { Values, Workload } from '../../../inspect/facts.ts'

export const runningPredecessor = defineCheck({
  id: 'predecessor',
  section: 'Other programs',
  checks: `No program that eip-admission replaces runs: ${replacedPrograms}.`,
  good: 'no program that eip-admission replaces runs',
  needs: ['workloads'],
  judge: ({ workloads }) => workloads.flatMap(predecessorFinding),
})

function predecessorFinding(workload: Workload): Finding[] {
  const { kind, metadata, spec, status } = workload
  const found = predecessorIn(spec?.template?.spec?.containers)
  const isStopped = kind === 'Deployment' ? spec?.replicas === 0 : status?.desiredNumberScheduled === 0
  if (!found || isStopped) return []
  const at = `-n ${metadata.namespace}`
  return [
    {
      level: 'error',
      what: `${kind} ${keyOf(workload)} runs ${found.image}`,
      why: 'both write the same Services, nodes and MetalLB objects; without leader election both at the same time',
      fix:
        {
          Deployment: `kubectl scale deployment ${at} ${metadata.name} --replicas=0`,
          Pod: `move its manifest out of the folder of static pods on ${metadata.ownerReferences?.[0]?.name}`,
        }[kind] ?? `kubectl delete daemonset ${at} ${metadata.name}`,
    },
  ]
}

export const leader = defineCheck({
  id: 'leader',
  section: 'Other programs',
  checks: 'A `serve` of eip-admission holds the lease of the leader, and no other program.',
  good: 'a `serve` of eip-admission leads',
  needs: ['leases', 'server'],
  applies: ({ settings }) => settings.process.leaderElect,
  judge({ leases, server }, { now, settings: { process } }) {
    const { leaseNamespace, leaseName } = process
    const place = `lease ${leaseNamespace}/${leaseName}`
    const lease = leases.find((one) => keyOf(one) === `${leaseNamespace}/${leaseName}`)
    if (!lease || !isHeld(lease, timeOf(server, now)))
      return [
        {
          level: 'error',
          what: lease ? `nobody renews the ${place}` : `the ${place} does not exist`,
          why: 'no `serve` runs the controllers: nothing is repaired, announced or released',
          fix: `kubectl get pods -n ${process.namespace} -o wide   # start \`serve\`, or read its log`,
        },
      ]
    const { holderIdentity = '' } = lease.spec ?? {}
    if (isOwnIdentity(holderIdentity)) return []
    return [
      {
        level: 'error',
        what: `the ${place} is held by ${holderIdentity}, which is not eip-admission`,
        why: '`serve` waits for the lease, and runs no controller until that program stops',
        fix: `kubectl get lease -n ${leaseNamespace} ${leaseName} -o yaml   # stop its holder`,
      },
    ]
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
    return [
      {
        level: 'error',
        what: lease ? `nobody renews the lease ${key}` : `the lease ${key} does not exist`,
        why: 'if the machine of the control-plane address fails, nobody moves it',
        fix: `kubectl get pods -n ${process.namespace} -o wide   # run a guardian on each control-plane node`,
      },
    ]
  },
})

/** The time on the clock of the API server: whoever renews a lease should agree with that one, not with this machine. */
function timeOf({ clockAheadMs }: Pick<Values['server'], 'clockAheadMs'>, now: Date): Date {
  return new Date(now.getTime() + clockAheadMs)
}
