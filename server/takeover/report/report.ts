import { type Format, asJson } from './format.ts'
import { type Finding, type TakeoverPlan, canApply } from '../plan/plan.ts'
import { costText, reservationsText, servicesText } from './addresses-text.ts'
import { announcingText, nodesText } from './network-text.ts'
import { quoted } from './quoted.ts'
import { predecessorText, settingsText } from './settings-text.ts'
import { clean, section } from './text.ts'

/** The flags that `apply` needs too, and the files that were written. */
export type Typed = { flags: string; values?: string | undefined; secret?: string | undefined }

/** The plan for people, or for programs. */
export function formatPlan(plan: TakeoverPlan, format: Format, typed: Typed): string {
  return format === 'json' ? asJson(plan) : asText(plan, typed)
}

/** What stands in the way where there is no plan at all. */
export function formatNoPlan(message: string, blockers: readonly Finding[], format: Format): string {
  if (format === 'json') return asJson({ formatVersion: 1, blockers })
  return `There is no plan: ${clean(message)}.\n\n${findings('In the way', blockers)}\n`
}

function asText(plan: TakeoverPlan, typed: Typed): string {
  const parts = [
    head(plan),
    predecessorText(plan),
    settingsText(plan),
    servicesText(plan),
    reservationsText(plan),
    nodesText(plan),
    announcingText(plan),
    costText(plan),
    findings('Warnings', plan.warnings),
    findings('In the way', plan.blockers),
    nextText(plan, typed),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function head({ predecessor, cluster }: TakeoverPlan): string {
  return `Takeover from ${predecessor.title}, cluster ${clean(cluster.id)}, Kubernetes ${clean(cluster.server)}\n`
}

function findings(title: string, all: readonly Finding[]): string {
  if (all.length === 0) return ''
  const lines = all.flatMap(({ where, what, remedy }) => [`${clean(where)}: ${clean(what)}`, `  do: ${clean(remedy)}`])
  return section(`${title} (${all.length})`, lines)
}

function nextText(plan: TakeoverPlan, { flags, values, secret }: Typed): string {
  if (!canApply(plan))
    return `Blocked: ${countText(plan.blockers.length)} in the way. Nothing was changed. Type next, when that is gone:\n\n  eip-admission takeover plan${flags}\n`
  const { namespace } = plan.target
  const files = [values, secret].filter((file) => file !== undefined)
  const written = files.length === 0 ? '' : ` Written: ${files.map(clean).join(', ')}.`
  const areWritten = files.length === 2
  const secretFile = quoted(secret ?? 'secret.yaml')
  const chart = `helm install eip-admission manifests/chart --namespace ${namespace} --take-ownership`
  return [
    `Ready. Nothing was changed.${written} Type next, only the last line if the chart is installed already:\n`,
    ...(areWritten
      ? []
      : [`  eip-admission takeover plan${flags} --write-values=values.yaml --write-secret=secret.yaml`]),
    `  kubectl create namespace ${namespace}`,
    `  kubectl create -f ${secretFile} && rm ${secretFile}`,
    `  ${chart} --values ${quoted(values ?? 'values.yaml')} --set replicas=0`,
    `  eip-admission takeover apply${flags}\n`,
  ].join('\n')
}

function countText(count: number): string {
  return count === 1 ? '1 thing stands' : `${count} things stand`
}
