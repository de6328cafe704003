import type { Announcements, DocumentConfiguration } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import type { Configured, Configurator } from './configurator.ts'

type Deps = { client: KubeClient; configuration: DocumentConfiguration }

/** Configures announcing software that reads a document in a ConfigMap. One that is not there is not ours to make. */
export function configureDocument({ client, configuration }: Deps): Configurator {
  const { key, ...at } = configuration.at
  const read = (signal: AbortSignal) => client.get<ConfigMap>(configMaps, at, { signal })
  return {
    async carryOut(state, signal) {
      const there = await read(signal)
      if (!there) return unlessNeeded(state, at)
      const before = there.data?.[key] ?? ''
      const { document, problems } = configuration.edit(before, state)
      // With the resourceVersion: what a person wrote in between is looked at again, not lost.
      const isChanged = document !== before
      if (isChanged) {
        await client.replace(configMaps, { ...there, data: { ...there.data, [key]: document } }, { signal })
      }
      return { problems, isChanged, isRefused: false }
    },
    async announces(address, signal) {
      const there = await read(signal)
      return there ? configuration.hasAddress(there.data?.[key] ?? '', address) : false
    },
  }
}

/** An error is tried again soon, and whoever installs the software just now waits for it. */
function unlessNeeded(
  { addresses }: Announcements,
  { namespace, name }: { namespace: string; name: string },
): Configured {
  if (addresses.length === 0) return { problems: [], isChanged: false, isRefused: false }
  const why = 'whoever installs the announcing software makes it, and nothing is announced before'
  throw new Error(`ConfigMap ${namespace}/${name} is not there: ${why}`)
}
