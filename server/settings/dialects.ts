import { equinixMetal } from './dialects/equinix-metal.ts'
import type { Format } from './setting.ts'
import { oneOf } from './words.ts'

/** Every dialect we speak. */
export const dialects = [equinixMetal] as const

export type Dialect = (typeof dialects)[number]

/** A dialect's name and its typed settings. */
export type CloudSettings = NonNullable<ReturnType<Dialect['read']>['values']>

/** The names of all dialects, for people. */
export const cloudProviders = oneOf(dialects.flatMap(({ providers }) => providers))

/** A dialect, by the names that its predecessors' manifests give it. */
export const cloudProvider: Format<Dialect> = {
  placeholder: 'name',
  read: (given) => {
    const dialect = dialects.find(({ providers }) => providers.some((name) => name === given.toLowerCase()))
    return dialect ? { value: dialect } : { right: cloudProviders }
  },
}
