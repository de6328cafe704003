import type { SoftwareCheck, SoftwareFinding } from '../../announcers/check.ts'
import { valuesOf } from '../../inspect/fact.ts'
import type { Context, FactName, Facts, Values } from '../../inspect/facts.ts'

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

/** A problem that a check finds. */
export type Finding = Omit<SoftwareFinding, 'level'> & { level: Result['level'] }

export type Findings = Finding | readonly Finding[]

/** A line of the report. `unknown`: a fact could not be read, so nothing was checked. */
export type Result = Partial<Omit<SoftwareFinding, 'level'>> & {
  section: Section
  check: string
  level: SoftwareFinding['level'] | 'ok' | 'unknown'
  what: string
  /** Why a fact could not be read, if it is `unknown`. */
  unread?: string
}

type Declaration<Need extends FactName> = Pick<SoftwareCheck, 'id' | 'checks' | 'good'> & {
  section: Section
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
