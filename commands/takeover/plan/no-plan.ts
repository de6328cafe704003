import { replacedPrograms } from '../../../inspect/predecessors.ts'
import { names } from '../../../settings/installed-names.ts'
import type { Problem } from '../../../settings/problems.ts'
import { End } from '../end.ts'
import { predecessorNamed } from '../found.ts'
import type { Progress } from '../progress.ts'
import type { Finding } from './plan.ts'

/** Why there is no plan where no workload runs a predecessor, and the person named none. */
export function withoutPredecessor(progress: Progress | undefined, namespace: string): End {
  if (!progress) return new End('blocked', 'no predecessor was found', { blockers: [absent] })
  const { title } = predecessorNamed(progress.found.predecessor)
  const removal = `kubectl delete configmap -n ${namespace} ${names.takeoverConfigMap}`
  if (progress.state === 'applied')
    return new End(
      'nothing',
      `The takeover is complete, and ${title} is removed: nothing is left to plan, and \`undo\` has no way back. ` +
        `Remove the record of the takeover: ${removal}`,
    )
  const where = progress.found.workloads.map(({ kind, namespace: of, name }) => `${kind} ${of}/${name}`).join(', ')
  const gone = {
    reason: 'predecessor-gone',
    where,
    what: 'it does not exist, so the settings cannot be read from it',
    remedy: `install it again as it was, then run the command again; if it is never to run again: ${removal}`,
  }
  return new End('blocked', 'a takeover was begun, and its predecessor is not in the cluster any more', {
    blockers: [gone],
  })
}

const absent: Finding = {
  reason: 'no-predecessor',
  where: 'Deployments and DaemonSets of all namespaces',
  what: `none runs ${replacedPrograms}`,
  remedy:
    'if it runs outside of the cluster, say which with --cloud-provider and --cloud-config=FILE; if there is none, install eip-admission',
}

/** Without the value if it is from the file: somebody may have written the token into the wrong field. */
export function problemFinding({ setting, source, wrong, right }: Problem): Finding {
  const isOfFile = source?.startsWith('the field ') === true
  const shown = isOfFile ? wrong.replace(/^is ".*"$/s, 'cannot be used (its value is not shown)') : wrong
  return { reason: 'setting', where: setting, what: source === undefined ? shown : `${source} ${shown}`, remedy: right }
}
