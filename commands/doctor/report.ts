import { counted, escapeMisleading, plainText } from '../../lib/text.ts'
import { type Result, notChecked, sections } from './check.ts'
import { remedyText } from '../../lib/remedy.ts'

export type Format = 'text' | 'json'

const marks = { ok: 'ok     ', manual: 'manual ', warning: 'warning', error: 'ERROR  ', unknown: 'unknown' }

type Shown = {
  format: Format
  exitCode: number
  /** Where the settings were found; empty if they were given. */
  places: readonly string[]
}

/** The report for people, or for programs. */
export function formatReport(results: readonly Result[], { format, exitCode, places }: Shown): string {
  if (format === 'text') return `${placesText(places)}${asText(results)}`
  const report = { summary: summaryOf(results), exitCode, settingsFrom: places, results }
  return `${escapeMisleading(JSON.stringify(report, null, 2))}\n`
}

function placesText(places: readonly string[]): string {
  return places.length === 0 ? '' : `Settings of ${places.join(' and ')}\n\n`
}

/** 1 if there are errors, else 2 if something could not be checked and that is not allowed, else 0. */
export function exitCodeOf(results: readonly Result[], allowUnknown = false): number {
  if (count(results, 'error') > 0) return 1
  return count(results, 'unknown') > 0 && !allowUnknown ? 2 : 0
}

function summaryOf(results: readonly Result[]): object {
  return {
    ok: count(results, 'ok'),
    manual: count(results, 'manual'),
    warnings: count(results, 'warning'),
    errors: count(results, 'error'),
    unknown: count(results, 'unknown'),
  }
}

/** How many findings of one kind are printed in full; the JSON report has all of them. */
const shownOfAKind = 3

function asText(results: readonly Result[]): string {
  const checked = results.filter(({ unread }) => unread === undefined)
  const parts = sections.flatMap((section) => {
    const own = checked.filter((result) => result.section === section)
    return own.length === 0 ? [] : [`${section}\n${ofEachKind(own)}`]
  })
  return [...parts, ...uncheckedText(results), `${summaryText(results)}\n`].join('\n')
}

/** Groups findings by kind: three hundred nodes with the same fault are one thing to fix. */
function ofEachKind(results: readonly Result[]): string {
  const kinds = Map.groupBy(results, ({ check, level, why = '' }) => [check, level, why].join('\n'))
  return [...kinds.values()]
    .map((same) => {
      const [first] = same
      const more = same.length - shownOfAKind
      if (more <= 1 || !first) return same.map(lines).join('')
      const rest = `  ${marks[first.level]}  and ${more} more of ${first.check}: doctor --output=json has all\n`
      return same.slice(0, shownOfAKind).map(lines).join('') + rest
    })
    .join('')
}

/**
 * Groups the checks that could not run by reason: a single reason, such as a missing kubeconfig, often keeps many
 * checks from running.
 */
function uncheckedText(results: readonly Result[]): string[] {
  const byReason = Map.groupBy(
    results.filter((result) => result.unread !== undefined),
    ({ unread = '' }) => unread,
  )
  const rows = [...byReason].map(([reason, of]) => {
    const ids = new Set(of.map(({ check }) => check))
    return `  ${marks.unknown}  ${plainText(notChecked([...ids].join(', '), reason))}\n`
  })
  return rows.length === 0 ? [] : [`Not checked\n${rows.join('')}`]
}

/** The lines of a result. The first ends with the id of the check, because runbooks refer to it. */
function lines({ check, level, what: given, ...more }: Result): string {
  const [what, why, fix] = [given, more.why, more.fix && remedyText(more.fix)].map((text) => text && plainText(text))
  const first = `  ${marks[level]}  ${what} [${check}]\n`
  const label = level === 'manual' ? 'run' : 'fix'
  const margin = ' '.repeat(11)
  return (
    first +
    (why === undefined ? '' : `${margin}why: ${why}\n`) +
    (fix === undefined ? '' : `${margin}${label}: ${fix}\n`)
  )
}

function summaryText(results: readonly Result[]): string {
  const [manual, unknown] = [count(results, 'manual'), count(results, 'unknown')]
  const parts = [
    counted(count(results, 'error'), 'errors'),
    counted(count(results, 'warning'), 'warnings'),
    `${count(results, 'ok')} ok`,
    ...(manual === 0 ? [] : [`${manual} to check manually`]),
    ...(unknown === 0 ? [] : [`${unknown} could not be checked`]),
  ]
  return `${parts.join(', ')}. Nothing was changed.`
}

function count(results: readonly Result[], level: Result['level']): number {
  return results.filter((result) => result.level === level).length
}
