import type { FormerConfiguration, ObjectConfiguration } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { configureObjects, ifReadable } from './configure-objects.ts'
import { listAll } from '../../kube/list-all.ts'
import {
  type ConfigureResult,
  type Configurator,
  type FormerConfigurator,
  nothingDone,
  nothingToAnnounce,
} from './configurator.ts'

type Deps = {
  /** The configurator of the current software; undefined if it reads no configuration. */
  current: Configurator | undefined
  former: FormerConfigurator[]
}

/**
 * Configures the current software, then empties the configuration that we wrote for earlier software. An object that is
 * not empty yet counts as announced, because that software may still run. While the current software announces nothing,
 * only released addresses leave the earlier one.
 */
export function emptyFormer({ current, former }: Deps): Configurator {
  let left = new Set(former)
  return {
    begin() {
      current?.begin?.()
      // A process with the earlier setting may have led meanwhile, for example in a stalled update.
      left = new Set(former)
    },
    async carryOut(state, signal) {
      const result = current ? await current.carryOut(state, signal) : nothingDone
      let { isChanged, failure } = result
      for (const one of left) {
        if (result.isRefused) {
          // If emptied, its addresses would not be announced at all. But the deletion of a Service waits until its own
          // address is removed. A release meets an error again, and waits for an answer.
          const isWithdrawn = await one.withdraw(state, signal).catch(ofApi(() => false))
          isChanged ||= isWithdrawn
          continue
        }
        const unanswered = ofApi((failure): ConfigureResult => ({ ...nothingDone, failure }))
        const emptied = await one.carryOut(nothingToAnnounce, signal).catch(unanswered)
        failure ??= emptied.failure
        isChanged ||= emptied.isChanged
        if (!emptied.isChanged && !emptied.failure) left.delete(one)
      }
      return { ...result, isChanged, ...(failure && { failure }) }
    },
    async announces(address, signal) {
      for (const one of [...(current ? [current] : []), ...left]) if (await one.announces(address, signal)) return true
      return false
    },
  }
}

/** An error of the earlier software's API. It must not hide the current software's result. */
function ofApi<T>(instead: (error: KubeError) => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof KubeError) return instead(error)
    throw error
  }
}

type FormerDeps = { client: KubeClient; former: FormerConfiguration; current: ObjectConfiguration | undefined }

/**
 * Objects that we wrote, but not those of the current configuration. If we have no right to read an object, we did not
 * write it.
 */
export function formerObjects({ client, former, current }: FormerDeps): FormerConfigurator {
  const isCurrent = ({ announcing: { kind }, namespace }: ObjectConfiguration) =>
    kind === current?.announcing.kind && namespace === current.namespace
  const here = async (signal: AbortSignal): Promise<FormerConfigurator[]> => {
    const { kinds, shared = [], selector: labelSelector } = former
    // Awaited together, because a failed read that nothing awaits ends the process.
    const all = await Promise.all([
      ...kinds.map((kind) => ifReadable(listAll(client, kind, { labelSelector, signal }))),
      ...shared.map(({ resource, name }) => ifReadable(client.get(resource, { name }, { signal }))),
    ])
    return former
      .configurations(all.flat().filter((object) => object !== undefined))
      .filter((configuration) => !isCurrent(configuration))
      .map((configuration) => configureObjects({ client, configuration: withoutCurrent(configuration, current) }))
  }
  return {
    async carryOut(state, signal): Promise<ConfigureResult> {
      const results: ConfigureResult[] = []
      for (const one of await here(signal)) results.push(await one.carryOut(state, signal))
      const [failure] = results.flatMap((result) => result.failure ?? [])
      const isChanged = results.some((result) => result.isChanged)
      return { ...nothingDone, isChanged, ...(failure && { failure }) }
    },
    async withdraw(state, signal) {
      let isChanged = false
      for (const one of await here(signal)) isChanged = (await one.withdraw(state, signal)) || isChanged
      return isChanged
    },
    async announces(address, signal) {
      for (const one of await here(signal)) if (await one.announces(address, signal)) return true
      return false
    },
  }
}

/**
 * The earlier configuration without objects that the current one needs: both may use the same Secret for the password
 * of their sessions.
 */
function withoutCurrent(former: ObjectConfiguration, current: ObjectConfiguration | undefined): ObjectConfiguration {
  const isInUse = ({ resource, only }: ObjectConfiguration['kinds'][number]) =>
    only !== undefined && current?.kinds.some((one) => one.resource === resource && one.only === only)
  if (former.namespace !== current?.namespace) return former
  return { ...former, kinds: former.kinds.filter((kind) => !isInUse(kind)) }
}

/** A document that we may have edited. If we have no right to it, or cannot parse it, we did not. */
export function formerDocument({ document, log }: { document: FormerConfigurator; log: Log }): FormerConfigurator {
  const ifOurs = async <T>(otherwise: T, read: () => Promise<T>): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      if (error instanceof KubeError && error.status !== 403) throw error
      log.warn({ error: errorText(error) }, 'a previous configuration is left unchanged')
      return otherwise
    }
  }
  return {
    carryOut: (state, signal) => ifOurs(nothingDone, () => document.carryOut(state, signal)),
    withdraw: (state, signal) => ifOurs(false, () => document.withdraw(state, signal)),
    announces: (address, signal) => ifOurs(false, () => document.announces(address, signal)),
  }
}
