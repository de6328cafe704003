import { stringify } from 'yaml'
import type { LoadBalancer } from '../../../announcers/setting.ts'
import { chartFlags } from './translate.ts'

type Given = {
  dialect: string
  cloudProvider: string
  flags: Record<string, string>
  secret: { name: string; key: string }
  extraEnv: { name: string; value: string }[]
  loadBalancer: LoadBalancer | undefined
}

/** The values file of the chart for translated settings. It holds no secret: those are in the Secret that it names. */
export function chartValuesOf({ dialect, cloudProvider, flags, secret, extraEnv, loadBalancer }: Given): string {
  const settings = Object.entries(chartFlags(dialect, flags))
    .map(([flag, value]) => [flag.slice(2), value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const configMap = loadBalancer && 'name' in loadBalancer ? loadBalancer.name : undefined
  // The chart has the same name by default.
  const isUsual = configMap === undefined || configMap === 'config'
  return stringify({
    cloudProvider,
    cloudConfig: { secretName: secret.name, key: secret.key },
    ...(settings.length > 0 && { settings: Object.fromEntries(settings) }),
    ...(!isUsual && { metallb: { configMap } }),
    ...(extraEnv.length > 0 && { extraEnv }),
  })
}
