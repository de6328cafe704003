import type { DialectFact, SettingFact } from '../../manifests/generate/values-schema.ts'
import { common } from '../../settings/common.ts'
import { dialects } from '../../clouds/dialects.ts'
import { processSettings } from '../../settings/process.ts'
import type { Setting } from '../../settings/setting.ts'

/** Flags that the chart sets from its own values. */
const ofTheChart = ['--kubeconfig', '--namespace', '--only', '--webhook-cert-dir', '--status-page-token-file']

/** The accepted `settings` of the chart in each dialect, the flags of its tables, and the required contents of its Secret. */
export function dialectFacts(): DialectFact[] {
  return dialects.map(({ name, providers, rows }) => {
    const settings: Setting<unknown>[] = Object.values({ ...common, ...rows, ...processSettings })
    const facts = settings.flatMap(factOf)
    const required = Object.values<Setting<unknown>>(rows).filter((row) => 'required' in row)
    return {
      name,
      providers,
      settings: facts.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      requiredFields: required.flatMap(({ field }) => field ?? []),
    }
  })
}

function factOf({ flag, format, sentence, findsControlPlaneAddress }: Setting<unknown>): SettingFact[] {
  if (flag === undefined || ofTheChart.includes(flag)) return []
  const { range, unset } = format
  const pattern = format.pattern && (unset === undefined ? format.pattern : `(${format.pattern})|(^${unset}$)`)
  return [
    {
      name: flag.slice(2),
      sentence,
      type: typeOf(format),
      ...(pattern && { pattern }),
      ...(range && { range: unset === '0' ? { ...range, from: 0 } : range }),
      ...(findsControlPlaneAddress && { findsControlPlaneAddress }),
    },
  ]
}

function typeOf({ placeholder, repeats, standsAlone }: Setting<unknown>['format']): SettingFact['type'] {
  if (repeats) return 'list'
  if (standsAlone) return 'boolean'
  if (placeholder === 'duration') return 'duration'
  return /^(number|port|asn|id)/.test(placeholder) ? 'number' : 'text'
}
