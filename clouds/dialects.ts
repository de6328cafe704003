import { cherryServers } from './cherry-servers/settings.ts'
import { equinixMetal } from './equinix-metal/settings.ts'
import { packet } from './equinix-metal/packet/settings.ts'
import type { Format } from '../settings/setting.ts'
import { oneOf } from '../settings/words.ts'
import { text } from '../settings/formats.ts'
import type { SettingsTable } from '../settings/setting.ts'

/** Every dialect. */
export const dialects = [equinixMetal, packet, cherryServers] as const

export type Dialect = (typeof dialects)[number]

/** The name of a dialect and its typed settings. */
export type CloudSettings = NonNullable<ReturnType<Dialect['read']>['values']>

/** All values of --cloud-provider, for messages. */
const cloudProviders = oneOf(dialects.flatMap(({ providers }) => providers))

/** A dialect, by the names that it has in its predecessors' manifests. */
const cloudProvider: Format<Dialect> = {
  placeholder: 'name',
  read: (given) => {
    const dialect = dialects.find(({ providers }) => providers.some((name) => name === given.toLowerCase()))
    return dialect ? { value: dialect } : { right: cloudProviders }
  },
}

/** The dialect and its configuration file: we must know both before we can read the other settings. */
export const cloudChoice = {
  dialect: {
    title: 'cloud provider',
    flag: '--cloud-provider',
    format: cloudProvider,
    required: true,
    sentence: `Cloud, and dialect of its settings, tags and annotations: ${cloudProviders}.`,
  },
  cloudConfig: {
    title: 'cloud configuration file',
    flag: '--cloud-config',
    aliases: ['--provider-config'],
    format: text('file'),
    unset: 'none',
    sentence: 'JSON file with settings of the cloud, usually mounted from a Secret.',
  },
} as const satisfies SettingsTable

/** The dialect of this name. */
export function dialectNamed(name: Dialect['name']): Dialect {
  const dialect = dialects.find((one) => one.name === name)
  if (!dialect) throw new Error(`no dialect has the name ${name}`)
  return dialect
}
