import type { EitherConfiguration, DocumentConfiguration } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError, isNotFound, resultUnless } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { configMaps } from '../../kube/resource.ts'
import { type Configurator, type FormerConfigurator, nothingDone, problemsOfServices } from './configurator.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { doctorAdvice } from '../../lib/remedy.ts'

type EitherDeps = {
  client: KubeClient
  log: Log
  configuration: EitherConfiguration
  objects: Configurator
  document: Configurator
}

/**
 * Configures software by what the cluster has: custom resources if their CRDs exist, because a ConfigMap may be left
 * over, else the ConfigMap. While there are no CRDs, each pass looks again: a person may install or upgrade the
 * software long after us.
 */
export function configureEither({ client, log, configuration, objects, document }: EitherDeps): Configurator {
  const { namespace, name } = configuration.document.at
  let found: Configurator | undefined
  const use = (one: Configurator, reason: string) => {
    const chosen = one === objects ? 'custom resources' : 'ConfigMap'
    if (found !== one) log.info({ chosen, reason }, 'chose how to configure the announcing software')
    found = one
    return one
  }
  const find = async (signal: AbortSignal): Promise<Configurator | undefined> => {
    const { announcing, namespace: ofObjects } = configuration.objects
    const some = client.list(announcing, { namespace: ofObjects, limit: 1, signal })
    if (await resultUnless(isNotFound, some)) return use(objects, 'the cluster has its custom resources')
    const configMap = await readConfigMap(client, { namespace, name }, signal)
    // The document's configurator reports the missing right.
    if (configMap === 'forbidden') return document
    return configMap && use(document, `there is a ConfigMap ${namespace}/${name}`)
  }
  return {
    begin() {
      for (const one of [objects, document]) one.begin?.()
    },
    async carryOut(state, signal) {
      const one = found === objects ? found : await find(signal)
      if (one) return one.carryOut(state, signal)
      if (state.addresses.length === 0) return nothingDone
      throw new Error(
        `there are neither custom resources of ${configuration.title} nor a ConfigMap ${namespace}/${name}, so no address is ` +
          `announced. Install ${configuration.title}: eip-admission checks again every few seconds`,
      )
    },
    async announces(address, signal) {
      if (found) return found.announces(address, signal)
      return (await objects.announces(address, signal)) || document.announces(address, signal)
    },
  }
}

const isDenied = (error: unknown) => error instanceof KubeError && error.status === 403

/** The ConfigMap; `forbidden` without the right to read it, which `install` grants for one name. */
function readConfigMap(client: KubeClient, at: { namespace: string; name: string }, signal: AbortSignal) {
  return resultUnless(isDenied, client.get<ConfigMap>(configMaps, at, { signal }), 'forbidden' as const)
}

type Deps = { client: KubeClient; configuration: DocumentConfiguration }

/** Configures announcing software that reads a document in a ConfigMap. We never create that ConfigMap. */
export function configureDocument({ client, configuration }: Deps): FormerConfigurator {
  const { key, ...at } = configuration.at
  const place = `ConfigMap ${at.namespace}/${at.name}`
  const read = (signal: AbortSignal) => client.get<ConfigMap>(configMaps, at, { signal })
  const documentIn = ({ data }: ConfigMap) => data?.[key] ?? ''
  // Written with the resourceVersion, so that a person's edit in between causes a conflict and is not lost.
  const write = async (configMap: ConfigMap, document: string, signal: AbortSignal) => {
    if (document === documentIn(configMap)) return false
    await client.replace(configMaps, { ...configMap, data: { ...configMap.data, [key]: document } }, { signal })
    return true
  }
  return {
    async carryOut(state, signal) {
      const configMap = await readConfigMap(client, at, signal)
      if (configMap === 'forbidden') {
        const message = `eip-admission may not access ${place}, so no address is announced; ${doctorAdvice}`
        return { problems: problemsOfServices(state, message), isChanged: false, isRefused: true }
      }
      if (!configMap && state.addresses.length === 0) return nothingDone
      // An error is retried soon, which suits a person who is just installing the software.
      if (!configMap)
        throw new Error(`${place} does not exist, so no address is announced. Create it with the announcing software`)
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
