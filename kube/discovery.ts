import type { CallOptions } from './client.ts'
import { isNotFound } from './errors.ts'
import type { Call } from './http.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'

export type Discovery = {
  /** Where the API server keeps objects of a kind; undefined where it does not serve them. */
  resource(
    of: Pick<KubeObject, 'apiVersion' | 'kind'>,
    options?: CallOptions,
  ): Promise<Resource<KubeObject> | undefined>
}

/** What the API server says of one version of a group; `name` has a slash where it is of a subresource. */
type ResourceList = { resources: { name: string; kind: string; namespaced: boolean }[] }

/** Finds out where kinds are kept that nobody here knows: those of a person's own file. */
export function discovery(send: (call: Call, options: CallOptions | undefined) => Promise<ResourceList>): Discovery {
  return {
    async resource({ apiVersion, kind }, options) {
      const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
      const call: Call = { what: `discover ${apiVersion} ${kind}`, method: 'GET', path, idempotent: true }
      const { resources } = await send(call, options).catch(noneWhereUnknown)
      const found = resources.find((one) => one.kind === kind && !one.name.includes('/'))
      return found && { apiVersion, kind, plural: found.name, namespaced: found.namespaced }
    },
  }
}

function noneWhereUnknown(error: unknown): ResourceList {
  if (isNotFound(error)) return { resources: [] }
  throw error
}
