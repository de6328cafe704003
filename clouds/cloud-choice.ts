import type { LoadBalancerScheme } from '../announcers/setting.ts'
import { text } from '../settings/formats.ts'
import type { Format, SettingsTable } from '../settings/setting.ts'
import { oneOf } from '../lib/text.ts'
import type { Dialect } from './dialect/define-dialect.ts'
import { dialects } from './dialects.ts'

/** All values of --cloud-provider, for messages. */
const cloudProviders = oneOf(dialects.flatMap(({ providers }) => providers))

/** A dialect, by its names in its predecessors' manifests. */
const cloudProvider: Format<Dialect> = {
  placeholder: 'name',
  read: (given) => {
    const dialect = dialects.find(({ providers }) => providers.some((name) => name === given.toLowerCase()))
    return dialect ? { value: dialect } : { right: cloudProviders }
  },
}

/** The dialect and its configuration file, without which we cannot read the other settings. */
export const cloudChoice = {
  dialect: {
    flag: '--cloud-provider',
    format: cloudProvider,
    required: true,
    sentence: `The provider, and the dialect of its settings, tags and annotations: ${cloudProviders}.`,
  },
  cloudConfig: {
    title: 'cloud configuration file',
    flag: '--cloud-config',
    aliases: ['--provider-config'],
    format: text('file'),
    unset: 'none',
    sentence: 'JSON file with settings of the provider, usually mounted from a Secret.',
  },
} as const satisfies SettingsTable

/** The load balancer setting's schemes for managed load balancers, of all providers that have them. */
export const managedSchemes: Readonly<Record<string, LoadBalancerScheme>> = Object.assign(
  {},
  ...dialects.map(({ managed }) => managed?.schemes),
)

/** The facts of a managed balancer in the annotations of its Service, for any provider. */
export function shownBalancer(
  annotations: Readonly<Record<string, string>>,
): Record<'id' | 'location', string | undefined> {
  const known = dialects.flatMap(({ managed }) => managed?.annotations ?? [])
  const names = known.find(({ id, location }) => id in annotations || location in annotations)
  return { id: names && annotations[names.id], location: names && annotations[names.location] }
}

/** The Services that show the control-plane address, one for each dialect, as `namespace/name`. */
export const controlPlaneServices: readonly string[] = [
  ...new Set(dialects.map(({ names }) => names.controlPlaneService)),
]
