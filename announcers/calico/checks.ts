import { classText } from '../../settings/service-policy.ts'
import { defineSoftwareCheck } from '../check.ts'
import { isClassOfCalico, poolOfStatuses } from './status-writer.ts'
import { shell } from '../../lib/remedy.ts'

/** Whether Calico itself gives addresses to the Services that eip-admission serves, also before it serves any. */
export const calicoStatuses = defineSoftwareCheck({
  id: 'calico-statuses',
  checks: 'No IPPool makes Calico write the status of the Services that eip-admission serves.',
  good: 'Calico writes no status of the Services that eip-admission serves',
  needs: ['announcer'],
  judge({ announcer: { existing } }, { classes }) {
    const pool = poolOfStatuses(existing)
    const disputed = classes.filter(isClassOfCalico)
    if (pool === undefined || disputed.length === 0) return []
    return [
      {
        level: 'error',
        what: `IPPool ${pool} is for load balancers, so Calico writes the status of ${disputed.map(classText).join(' and ')}`,
        why: 'eip-admission writes it too, so each undoes what the other writes, and nothing new is announced',
        fix: shell`kubectl delete ippools.projectcalico.org ${pool}   # or set --load-balancer-class of \`serve\` and \`install\` to other classes`,
      },
    ]
  },
})
