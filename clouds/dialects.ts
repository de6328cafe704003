import { cherryServers } from './cherry-servers/settings.ts'
import { equinixMetal } from './equinix-metal/settings.ts'
import { packet } from './equinix-metal/packet/settings.ts'
import type { Format } from '../settings/setting.ts'
import { oneOf } from '../settings/words.ts'

/** Every dialect. */
export const dialects = [equinixMetal, packet, cherryServers] as const

export type Dialect = (typeof dialects)[number]

/** The name of a dialect and its typed settings. */
export type CloudSettings = NonNullable<ReturnType<Dialect['read']>['values']>

/** The typed settings of one dialect. */
export type SettingsOf<Name extends CloudSettings['dialect']> = Extract<CloudSettings, { dialect: Name }>['settings']

/** All values of --cloud-provider, for messages. */
export const cloudProviders = oneOf(dialects.flatMap(({ providers }) => providers))

/** A dialect, by the names that it has in its predecessors' manifests. */
export const cloudProvider: Format<Dialect> = {
  placeholder: 'name',
  read: (given) => {
    const dialect = dialects.find(({ providers }) => providers.some((name) => name === given.toLowerCase()))
    return dialect ? { value: dialect } : { right: cloudProviders }
  },
}
