import type { EitherConfiguration } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError, isNotFound } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { configMaps } from '../../kube/resource.ts'
import { type Configurator, nothingDone } from './configurator.ts'

type Deps = {
  client: KubeClient
  log: Log
  configuration: EitherConfiguration
  objects: Configurator
  document: Configurator
}

/**
 * Configures software by what the cluster has: its custom resources, because a ConfigMap may be left over, else its
 * ConfigMap. While there are no custom resources, each pass looks again: a person may install or upgrade the software
 * long after us.
 */
export function configureEither({ client, log, configuration, objects, document }: Deps): Configurator {
  const { namespace, name } = configuration.document.at
  let found: Configurator | undefined
  const use = (one: Configurator, reason: string) => {
    const chosen = one === objects ? 'custom resources' : 'ConfigMap'
    if (found !== one) log.info({ chosen, reason }, 'chosen how to configure MetalLB')
    found = one
    return one
  }
  const find = async (signal: AbortSignal): Promise<Configurator | undefined> => {
    if (await knowsObjects(client, configuration, signal)) return use(objects, 'the cluster has its custom resources')
    const there = await documentThere(client, { namespace, name }, signal)
    if (there === 'yes') return use(document, `there is a ConfigMap ${namespace}/${name}`)
    // It reports which right is missing.
    return there === 'forbidden' ? document : undefined
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
        `there are neither custom resources of MetalLB nor a ConfigMap ${namespace}/${name}, so no address is announced. ` +
          'Install MetalLB: eip-admission looks again every few seconds',
      )
    },
    async announces(address, signal) {
      if (found) return found.announces(address, signal)
      return (await objects.announces(address, signal)) || document.announces(address, signal)
    },
  }
}

async function knowsObjects(client: KubeClient, { objects }: EitherConfiguration, signal: AbortSignal) {
  try {
    await client.list(objects.announcing, { namespace: objects.namespace, limit: 1, signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

async function documentThere(client: KubeClient, at: { namespace: string; name: string }, signal: AbortSignal) {
  try {
    return (await client.get(configMaps, at, { signal })) ? 'yes' : 'no'
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return 'forbidden'
    throw error
  }
}
