// Prometheus' own tool, which evaluates rules over series as the server does.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { alertGroups } from '../../telemetry/alerts/rules.ts'
import { promtoolProgram } from '../../sandbox/promtool/build.ts'

export const rulesFile = join(import.meta.dirname, '..', '..', 'manifests', 'monitoring', 'eip-admission.rules.yaml')

/** The time between two samples. */
export const intervalS = 30

/** Series over time, and which alerts they fire. */
export type AlertTest = {
  name: string
  /** Values by series, in promtool's notation such as `0+30x20`. */
  series: Record<string, string>
  /** Until when it is evaluated. */
  until: string
  /** The names of all alerts that fired at any time. */
  fired: string[]
  /** The names of those that fire, or are about to, at the end. Absent where it does not matter. */
  atEnd?: string[]
}

/** The answer of promtool about these tests; its code is 0 if all passed. */
export async function testAlerts(tests: AlertTest[]): Promise<{ code: number | null; output: string }> {
  // A case of hours would have the others evaluated as long.
  const groups = Object.values(Object.groupBy(tests, (test) => (isSeenAlone(test) ? test.name : test.until)))
  const file = {
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: groups.map((group = []) => toPromtool(group)),
  }
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

/** The metrics whose absence fires an alert. */
const neededMetrics = alertGroups
  .flatMap(({ alerts }) => alerts)
  .flatMap(({ expr }) => [...expr.matchAll(/\babsent\((\w+)\)/g)].map(([, metric = '']) => metric))

/** Whether a needed metric is absent at some time, which Prometheus notices only where no other cluster shows it. */
function isSeenAlone({ series }: AlertTest): boolean {
  const isGapless = ([name, values]: [string, string], metric: string) =>
    name.startsWith(`${metric}{`) && !/_|stale/.test(values)
  return neededMetrics.some((metric) => !Object.entries(series).some((one) => isGapless(one, metric)))
}

/** A test of promtool: each of ours is a cluster of the same Prometheus. Evaluating them together costs a third. */
function toPromtool(tests: AlertTest[]): object {
  const inCluster = (n: number, name: string) => name.replace('{', `{cluster="${n}", `)
  return {
    name: tests.length === 1 ? tests[0]?.name : `${tests.length} clusters`,
    interval: `${intervalS}s`,
    input_series: tests.flatMap(({ series }, n) =>
      Object.entries(series).map(([name, values]) => ({ series: inCluster(n, name), values })),
    ),
    promql_expr_test: tests.flatMap(expectations),
  }
}

function expectations({ name, until, fired, atEnd }: AlertTest, n: number): object[] {
  // An absent series has no cluster.
  const ofCluster = `cluster=~"|${n}"`
  const named = (selected: string, alerts: string[]) => ({
    // promtool prints the expression of what is wrong.
    expr: `# ${name}\ngroup by (alertname) (${selected})`,
    eval_time: until,
    exp_samples: alerts.toSorted().map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  })
  return [
    named(`last_over_time(ALERTS{alertstate="firing", ${ofCluster}}[1d])`, fired),
    ...(atEnd ? [named(`ALERTS{${ofCluster}}`, atEnd)] : []),
  ]
}
