import type { CallOptions } from './client.ts'
import { isNotFound, resultUnless } from './errors.ts'
import type { Call } from './http.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'

export type Discovery = {
  /** The resource of a kind; undefined if the API server does not serve it. */
  resource(
    of: Pick<KubeObject, 'apiVersion' | 'kind'>,
    options?: CallOptions,
  ): Promise<Resource<KubeObject> | undefined>
}

/** The API server's resources of one group and version. The `name` of a subresource has a slash. */
type ResourceList = { resources: { name: string; kind: string; namespaced: boolean }[] }

/** Looks up the resources of kinds that we do not know, such as those in an operator's manifest. */
export function discovery(send: (call: Call, options: CallOptions | undefined) => Promise<ResourceList>): Discovery {
  return {
    async resource({ apiVersion, kind }, options) {
      const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
      const call: Call = { name: `discover ${apiVersion} ${kind}`, method: 'GET', path, idempotent: true }
      const { resources } = await resultUnless(isNotFound, send(call, options), none)
      const found = resources.find((one) => one.kind === kind && !one.name.includes('/'))
      return found && { apiVersion, kind, plural: found.name, namespaced: found.namespaced }
    },
  }
}

const none: ResourceList = { resources: [] }
