import { plainText, shellWord } from '../../../lib/text.ts'
import { names } from '../../../settings/installed-names.ts'
import { type PredecessorWorkload, type TakeoverPlan, canApply, isDone } from '../plan/plan.ts'
import { type TakeoverStatus, commandsOf, statusText } from '../takeover-status.ts'
import { blockingText } from '../end.ts'

/** The commands to type next. `folder`: where the files for the chart were written. */
export function nextText(plan: TakeoverPlan, folder: string | undefined): string {
  const { status } = plan
  if (isDone(plan)) return doneText(plan)
  if (status?.worker !== undefined) return `Wait: ${plainText(statusText(status))}. Nothing was changed.\n`
  if (!canApply(plan)) return blockedText(plan)
  if (status) return continueText(status)
  return readyText(plan, folder)
}

function blockedText({ blockers: { length } }: TakeoverPlan): string {
  return `Blocked: ${blockingText(length)}. Nothing was changed. Run next, when that is resolved:\n\n  eip-admission takeover plan\n`
}

function continueText(status: TakeoverStatus): string {
  const [first, second] = commandsOf(status)
  const other = second === 'undo' ? 'go back' : 'take over'
  const onward = `Started: ${plainText(statusText(status))}. Nothing was changed now. To continue:\n\n  eip-admission takeover ${first}`
  return `${onward}\n\nTo ${other} instead:\n\n  eip-admission takeover ${second}\n`
}

/** The decision that is left to a person who has taken over. */
function doneText({ predecessor: { workloads, title }, target: { namespace } }: TakeoverPlan): string {
  const removals = workloads.map((workload) => `  ${removalOf(workload)}`)
  return [
    `Complete: eip-admission leads, ${title} is stopped, and nothing is left to do. Nothing was changed now. To go back:\n`,
    '  eip-admission takeover undo',
    `\nIt starts the predecessor again, so that must stay installed. If you stay, remove it and the record of the takeover:\n`,
    ...removals,
    `  kubectl delete configmap -n ${namespace} ${names.takeoverConfigMap}\n`,
  ].join('\n')
}

function removalOf({ kind, namespace, name, helmRelease }: PredecessorWorkload): string {
  if (helmRelease !== undefined) return `helm uninstall -n ${namespace} ${shellWord(helmRelease)}`
  return `kubectl delete ${kind.toLowerCase()} -n ${namespace} ${name}`
}

function readyText({ target: { namespace } }: TakeoverPlan, folder: string | undefined): string {
  const at = (file: string) => shellWord(`${folder ?? 'takeover'}/${file}`)
  const chart = `helm install eip-admission manifests/chart --namespace ${namespace} --take-ownership`
  return [
    'Ready. Nothing was changed. Run next, only the last line if the chart is installed already:\n',
    ...(folder === undefined ? ['  eip-admission takeover plan --write=takeover'] : []),
    `  kubectl create namespace ${namespace}`,
    `  kubectl create -f ${at('secret.yaml')} && rm ${at('secret.yaml')}`,
    `  ${chart} --values ${at('values.yaml')} --set replicas=0`,
    '  eip-admission takeover apply\n',
  ].join('\n')
}
