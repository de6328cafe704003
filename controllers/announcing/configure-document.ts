import type { Announcements, DocumentConfiguration } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { doctorAdvice } from '../../settings/doctor-advice.ts'
import { type ConfigureResult, type FormerConfigurator, nothingDone } from './configurator.ts'

type Deps = { client: KubeClient; configuration: DocumentConfiguration }

/** Configures announcing software that reads a document in a ConfigMap. We never create that ConfigMap. */
export function configureDocument({ client, configuration }: Deps): FormerConfigurator {
  const { key, ...at } = configuration.at
  const read = (signal: AbortSignal) => client.get<ConfigMap>(configMaps, at, { signal })
  const documentIn = ({ data }: ConfigMap) => data?.[key] ?? ''
  // With the resourceVersion, so that what a person wrote in between causes a conflict and is not lost.
  const write = async (configMap: ConfigMap, document: string, signal: AbortSignal) => {
    if (document === documentIn(configMap)) return false
    await client.replace(configMaps, { ...configMap, data: { ...configMap.data, [key]: document } }, { signal })
    return true
  }
  return {
    async carryOut(state, signal) {
      const configMap = await read(signal).catch(forbidden)
      if (configMap === 'forbidden') return withoutRight(state, at)
      if (!configMap) return withoutConfigMap(state, at)
      const { document, problems } = configuration.edit(documentIn(configMap), state)
      return { problems, isChanged: await write(configMap, document, signal), isRefused: false }
    },
    async withdraw(state, signal) {
      const configMap = await read(signal)
      return configMap ? write(configMap, configuration.withdraw(documentIn(configMap), state), signal) : false
    },
    async announces(address, signal) {
      const configMap = await read(signal)
      return configMap ? configuration.hasAddress(documentIn(configMap), address) : false
    },
  }
}

/** Without the right to read it, which `install` gives for a ConfigMap of one name. */
function forbidden(error: unknown): 'forbidden' {
  if (error instanceof KubeError && error.status === 403) return 'forbidden'
  throw error
}

function withoutRight({ addresses }: Announcements, { namespace, name }: { namespace: string; name: string }) {
  const message = `eip-admission has no right to ConfigMap ${namespace}/${name}, so no address is announced; ${doctorAdvice}`
  const subjects = [...new Set(addresses.flatMap(({ services }) => services))]
  const problems = subjects.map((service) => ({ subject: { service }, message }))
  return { problems, isChanged: false, isRefused: true }
}

/** An error is retried soon, which suits a person who is installing the software just now. */
function withoutConfigMap(
  { addresses }: Announcements,
  { namespace, name }: { namespace: string; name: string },
): ConfigureResult {
  if (addresses.length === 0) return nothingDone
  throw new Error(
    `ConfigMap ${namespace}/${name} does not exist, so no address is announced. Create it with the announcing software`,
  )
}
