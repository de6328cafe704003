// Prometheus' own tool, which evaluates rules over series as the server does.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { promtoolProgram } from '../../sandbox/promtool/build.ts'

export const rulesFile = join(import.meta.dirname, '..', '..', 'manifests', 'monitoring', 'eip-admission.rules.yaml')

/** Series over time, and which alerts they fire. */
export type AlertTest = {
  name: string
  /** The time between two samples, and between two evaluations. */
  interval: string
  /** The time of the first sample; 0 when absent. */
  startS?: number
  /** Values by series, in promtool's notation such as `0+30x20`. */
  series: Record<string, string>
  /** Until when it is evaluated. */
  until: string
  /** The names of all alerts that fired at any time. */
  fired: string[]
  /** The names of those that fire, or are about to, at the end. Absent where it does not matter. */
  atEnd?: string[]
}

/** What promtool says of these tests; its code is 0 if all passed. */
export async function testAlerts(tests: AlertTest[]): Promise<{ code: number | null; output: string }> {
  const file = { rule_files: [rulesFile], evaluation_interval: '1m', tests: tests.map(toPromtool) }
  return runPromtool(['test', 'rules'], stringify(file, { lineWidth: 0 }))
}

/** The alerts that series fire at any time, and those that fire or are about to at the end. */
export async function alertsOf(
  recorded: Omit<AlertTest, 'name' | 'fired' | 'atEnd'>,
): Promise<{ fired: string[]; atEnd: string[] }> {
  // promtool prints what it found only where something else was expected.
  const nothing = ['none has this name']
  const { output } = await testAlerts([{ ...recorded, name: 'recorded', fired: nothing, atEnd: nothing }])
  const [fired, atEnd] = [...output.matchAll(/^ *got: (.*)$/gm)].map(([, found = '']) =>
    [...found.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name).toSorted(),
  )
  if (!fired || !atEnd) throw new Error(output)
  return { fired, atEnd }
}

/** Runs promtool with a file that has this text. */
export async function runPromtool(args: string[], text: string): Promise<{ code: number | null; output: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-promtool-'))
  try {
    const file = join(dir, 'input.yaml')
    writeFileSync(file, text)
    const { status, stdout, stderr } = spawnSync(await promtoolProgram(), [...args, file], { encoding: 'utf8' })
    return { code: status, output: stdout + stderr }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

function toPromtool({ name, interval, startS, series, until, fired, atEnd }: AlertTest): object {
  const named = (selected: string, alerts: string[]) => ({
    expr: `group by (alertname) (${selected})`,
    eval_time: until,
    exp_samples: alerts.toSorted().map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  })
  return {
    name,
    interval,
    ...(startS !== undefined && { start_timestamp: String(startS) }),
    input_series: Object.entries(series).map(([of, values]) => ({ series: of, values })),
    promql_expr_test: [
      named('last_over_time(ALERTS{alertstate="firing"}[1d])', fired),
      ...(atEnd ? [named('ALERTS', atEnd)] : []),
    ],
  }
}
