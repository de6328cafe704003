import { type Format, asJson } from './format.ts'
import { type Finding, type TakeoverPlan, isDone } from '../plan/plan.ts'
import { costText, reservationsText, servicesText } from './addresses-text.ts'
import { announcingText, nodesText } from './network-text.ts'
import { predecessorText, settingsText } from './settings-text.ts'
import { type Typed, nextText } from './next-text.ts'
import { clean, findings } from './text.ts'

/** The plan for people, or for programs. */
export function formatPlan(plan: TakeoverPlan, format: Format, typed: Typed): string {
  return format === 'json' ? asJson(plan) : asText(plan, typed)
}

/** What stands in the way where there is no plan at all. */
export function formatNoPlan(message: string, blockers: readonly Finding[], format: Format): string {
  if (format === 'json') return asJson({ formatVersion: 1, blockers })
  return `There is no plan: ${clean(message)}.\n\n${findings('In the way', blockers)}\n`
}

/** That there is nothing to plan. */
export function formatNothing(message: string, format: Format): string {
  if (format === 'json') return asJson({ formatVersion: 1, blockers: [], message })
  return `${clean(message)}\n`
}

function asText(plan: TakeoverPlan, typed: Typed): string {
  const parts = isDone(plan) ? doneParts(plan, typed) : allParts(plan, typed)
  return parts.filter((part) => part !== '').join('\n')
}

function allParts(plan: TakeoverPlan, typed: Typed): string[] {
  return [
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
}

/** What a person needs after a takeover: its settings and what it changed are done. */
function doneParts(plan: TakeoverPlan, typed: Typed): string[] {
  return [
    head(plan),
    predecessorText(plan),
    servicesText(plan),
    findings('Warnings', plan.warnings),
    nextText(plan, typed),
  ]
}

function head({ predecessor, cluster }: TakeoverPlan): string {
  return `Takeover from ${predecessor.title}, cluster ${clean(cluster.id)}, Kubernetes ${clean(cluster.server)}\n`
}
