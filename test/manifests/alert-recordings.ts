// Metrics of real processes while alerts fired or stayed quiet. test/whole/alerts/record.ts makes the files again.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ruleExpression } from '../../telemetry/alerts/alert.ts'
import { alertGroups } from '../../telemetry/alerts/rules.ts'
import type { Series } from './alert-series.ts'
import { namedIn } from './expressions.ts'
import { intervalS } from './promtool.ts'

/** Series that processes really showed, and the alerts that they fire. */
export type AlertRecording = {
  /** All alerts that fired at any time. */
  fired: string[]
  /** Those that fire, or are about to, at the end. */
  atEnd: string[]
  scrapes: number
  series: Series
}

/** The common labels of recorded processes; the files leave it out. */
export const targetLabels = 'namespace="eip-admission",job="eip-admission-metrics"'

const folder = join(import.meta.dirname, 'alert-recordings')
const fileOf = (name: string) => join(folder, `${name}.json`)

/** The metrics that a rule names: a recording has no others. */
export const ruleMetrics = new Set(
  alertGroups.flatMap(({ alerts }) => alerts.flatMap((alert) => namedIn(ruleExpression(alert)).metrics)),
)

/** The recordings in the repository, by their names. */
export function alertRecordings(): Record<string, AlertRecording> {
  const names = globSync('*.json', { cwd: folder }).map((file) => basename(file, '.json'))
  return Object.fromEntries(names.toSorted().map((name) => [name, readRecording(name)]))
}

function readRecording(name: string): AlertRecording {
  const recording = JSON.parse(readFileSync(fileOf(name), 'utf8')) as AlertRecording
  const series = Object.entries(recording.series).map(([one, values]) => [
    one.replace('{', `{${targetLabels},`),
    values,
  ])
  return { ...recording, series: Object.fromEntries(series) as Series }
}

/** Keeps a recording under this name. */
export function keepRecording(name: string, { fired, atEnd, scrapes, series }: AlertRecording): void {
  const rows = Object.entries(series).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const short = Object.fromEntries(rows.map(([one, values]) => [one.replace(`{${targetLabels},`, '{'), values]))
  writeFileSync(fileOf(name), `${JSON.stringify({ fired, atEnd, scrapes, series: short }, null, 1)}\n`)
}

/** When a recording ends, in promtool's words. */
export function endOf({ scrapes }: Pick<AlertRecording, 'scrapes'>): string {
  return `${scrapes * intervalS}s`
}
