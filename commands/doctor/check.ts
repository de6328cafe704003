import { valuesOf } from '../../inspect/fact.ts'
import type { Context, FactName, Facts, Values } from '../../inspect/facts.ts'
import type { Remedy } from '../../lib/remedy.ts'

/** The parts of the report, in its order. */
export const sections = [
  'API server',
  'Webhooks',
  'Provider',
  'Nodes',
  'Addresses',
  'Announcing',
  'Other programs',
  'Rights',
  'Settings',
  'Control-plane address',
] as const

export type Section = (typeof sections)[number]

/**
 * A problem: what and where, why it matters, and the command that fixes it. `manual`: `doctor` cannot see it, but the
 * command shows it to a person.
 */
export type Finding = { level: Result['level']; what: string; why: string; fix: Remedy; isUnseen?: true }

export type Findings = Finding | readonly Finding[]

/** A line of the report. `unknown`: a fact could not be read, so nothing was checked. */
export type Result = {
  section: Section
  check: string
  level: 'ok' | 'manual' | 'warning' | 'error' | 'unknown'
  what: string
  why?: string
  fix?: Remedy
  /** The missing program may run where the cluster does not show it. */
  isUnseen?: true
  /** Why a fact could not be read, if it is `unknown`. */
  unread?: string
}

type Declaration<Need extends FactName> = {
  id: string
  section: Section
  /** The subject of the check, for the reference. */
  checks: string
  /** The text of the report if nothing is wrong. */
  good: string
  needs: readonly Need[]
  /** Whether the settings make the check meaningful; otherwise it is left out. */
  applies?: (context: Context) => boolean
  judge: (facts: Pick<Values, Need>, context: Context) => Findings
}

export type Check = Pick<Declaration<FactName>, 'id' | 'section' | 'checks' | 'needs'> & {
  run(facts: Facts, context: Context): Result[]
}

/** Makes a check: a pure function from facts to findings, with its row in the reference. */
export function defineCheck<Need extends FactName>(declaration: Declaration<Need>): Check {
  const { id, section, checks, good, needs, applies = () => true, judge } = declaration
  return {
    id,
    section,
    checks,
    needs,
    run(facts, context) {
      if (!applies(context)) return []
      const unread = [...new Set(needs.flatMap((name) => reasonOf(facts, name) ?? []))]
      const place = { section, check: id }
      if (unread.length > 0)
        return unread.map((reason) => ({ ...place, level: 'unknown', what: notChecked(id, reason), unread: reason }))
      const findings = [judge(valuesOf<Values, Need>(facts, needs), context)].flat()
      if (findings.length === 0) return [{ ...place, level: 'ok', what: good }]
      return findings.map((finding) => ({ ...place, ...finding }))
    },
  }
}

function reasonOf(facts: Facts, name: FactName): string | undefined {
  const fact = facts[name]
  return 'unread' in fact ? fact.unread : undefined
}

/** The text of the report for checks that lack a fact. */
export function notChecked(ids: string, reason: string): string {
  return `${ids} could not be checked, because ${reason}`
}
