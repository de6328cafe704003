import { stringify } from 'yaml'
import type { LoadBalancer } from '../../../announcers/setting.ts'
import { dialectFacts } from '../../settings/chart-facts.ts'
import type { Context } from '../../../inspect/facts.ts'
import type { PlanInput } from './facts.ts'
import { type PlanFindings, type PlannedSettings, warning } from './plan.ts'
import type { Translation } from './translate.ts'

/** The Secret that the chart reads by default, in our own namespace. */
const secretName = 'eip-admission-cloud'
const secretKey = 'cloud-sa.json'

/** The settings of `serve`, as files for the chart. */
export function plannedSettings({ predecessor, given, translation, flags, context }: PlanInput): PlannedSettings {
  const { provider: cloudProvider, dialect } = predecessor
  const secret = { namespace: context.settings.process.namespace, name: secretName, key: secretKey }
  const ref = given.file?.ref
  const isCopy = Object.keys(translation.merged).length === 0 && ref?.kind === 'Secret'
  const { extraEnv } = translation
  const { loadBalancer } = context.vendor
  return {
    cloudProvider,
    flags,
    source: ref?.kind === 'Secret' ? { namespace: ref.namespace, name: ref.name, key: ref.key } : undefined,
    secret: { ...secret, fields: Object.keys(translation.file?.fields ?? {}), how: isCopy ? 'copy' : 'merge' },
    values: chartValuesOf({ dialect, cloudProvider, flags, secret, extraEnv, loadBalancer }),
  }
}

/** The warning that only Services that name a location get an address. */
export function locationFinding({ vendor: { policy, loadBalancer } }: Context): PlanFindings {
  const sources = policy.locationSources
  const isSet = sources.some((one) => one.kind === 'setting' && one.value !== undefined)
  if (isSet || loadBalancer.kind === 'none' || loadBalancer.kind === 'managed') return []
  return warning('no-location', 'settings', {
    what: 'no location is set: a new Service gets an address only if its annotation names one',
    remedy: `set ${sources.map(({ name }) => name).join(' or ')}, as --metro, --facility or --region`,
  })
}

type ChartSettings = Pick<PlannedSettings, 'cloudProvider' | 'flags'> &
  Pick<Translation, 'extraEnv'> & {
    dialect: string
    secret: { name: string; key: string }
    loadBalancer: LoadBalancer | undefined
  }

/** The values file of the chart for translated settings. It holds no secret: those are in the Secret that it names. */
export function chartValuesOf(of: ChartSettings): string {
  const { dialect, cloudProvider, flags, secret, extraEnv, loadBalancer } = of
  const settings = Object.entries(chartFlags(dialect, flags))
    .map(([flag, value]) => [flag.slice(2), value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const configMap = loadBalancer && 'name' in loadBalancer ? loadBalancer.name : undefined
  // The chart's default is the same name.
  const isUsual = configMap === undefined || configMap === 'config'
  return stringify({
    cloudProvider,
    cloudConfig: { secretName: secret.name, key: secret.key },
    ...(settings.length > 0 && { settings: Object.fromEntries(settings) }),
    ...(!isUsual && { metallb: { configMap } }),
    ...(extraEnv.length > 0 && { extraEnv }),
  })
}

/** The flags that the chart accepts in its `settings`. */
function chartFlags(dialect: string, flags: Record<string, string>): Record<string, string> {
  const names = new Set(
    dialectFacts()
      .find(({ name }) => name === dialect)
      ?.settings.map(({ name }) => `--${name}`),
  )
  return Object.fromEntries(Object.entries(flags).filter(([flag]) => names.has(flag) && flag !== '--api-server'))
}
