import jsonPatch, { type Operation } from 'fast-json-patch'
import type { At, KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeObject, Secret, WebhookConfiguration } from '../../kube/objects.ts'
import {
  mutatingWebhookConfigurations,
  pathOf,
  type Resource,
  secrets,
  validatingWebhookConfigurations,
} from '../../kube/resource.ts'

/** What of the API server the certificates lean on: versions that conflict, names that are taken, types that stay. */
export type FakeKube = {
  client: KubeClient
  secret(): Secret | undefined
  putSecret(change: (secret: Secret) => void): void
  removeSecret(): void
  configurations(): WebhookConfiguration[]
  putConfiguration(configuration: WebhookConfiguration): void
  removeConfigurations(): void
  writes: string[]
}

const refused = (status: number, reason: string) =>
  new KubeError(`the fake API server says ${reason}`, { status, reason })

const unused = () => Promise.reject(new Error('certificates have no use for this call'))
const isConfiguration = (object: KubeObject): object is WebhookConfiguration => 'webhooks' in object
const resourceOf = ({ kind }: WebhookConfiguration) =>
  kind === 'MutatingWebhookConfiguration' ? mutatingWebhookConfigurations : validatingWebhookConfigurations

export function fakeKube(): FakeKube {
  const store = new Map<string, KubeObject>()
  const writes: string[] = []
  let version = 0
  const save = <T extends KubeObject>(path: string, object: T): T => {
    version += 1
    const saved = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    store.set(path, saved)
    writes.push(path)
    return structuredClone(saved)
  }
  // What is stored under the path of a resource is of that resource's type: only writes through it put it there.
  const read = <T extends KubeObject>(resource: Resource<T>, at: At) => store.get(pathOf(resource, at)) as T | undefined
  const update = <T extends KubeObject>(path: string, stored: KubeObject | undefined, next: T): T => {
    if (!stored) throw refused(404, 'NotFound')
    if (next.metadata.resourceVersion !== stored.metadata.resourceVersion) throw refused(409, 'Conflict')
    if ('type' in stored && (next as KubeObject & { type?: unknown }).type !== stored.type)
      throw refused(422, 'Invalid')
    return save(path, next)
  }
  const client: KubeClient = {
    get: async (resource, at) => structuredClone(read(resource, at)),
    async create(resource, object) {
      const path = pathOf(resource, object.metadata)
      if (store.has(path)) throw refused(409, 'AlreadyExists')
      return save(path, object)
    },
    replace: async (resource, object) => {
      const path = pathOf(resource, object.metadata)
      return update(path, store.get(path), object)
    },
    async patch(resource, { patch, ...at }) {
      const stored = read(resource, at)
      if (!stored || !('json' in patch)) throw refused(404, 'NotFound')
      const { newDocument } = jsonPatch.applyPatch(structuredClone(stored), patch.json as Operation[], true)
      return update(pathOf(resource, at), stored, newDocument)
    },
    list: unused,
    apply: unused,
    remove: unused,
  }
  const secretPath = pathOf(secrets, { namespace: 'eip', name: 'eip-ca' })
  const secret = () => structuredClone(store.get(secretPath)) as Secret | undefined
  return {
    client,
    writes,
    secret,
    putSecret(change) {
      const changed: Secret = secret() ?? {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'eip', name: 'eip-ca' },
      }
      change(changed)
      save(secretPath, changed)
    },
    removeSecret: () => void store.delete(secretPath),
    configurations: () => [...store.values()].filter(isConfiguration).map((object) => structuredClone(object)),
    putConfiguration: (configuration) =>
      void save(pathOf(resourceOf(configuration), configuration.metadata), configuration),
    removeConfigurations() {
      for (const [path, object] of store) if (isConfiguration(object)) store.delete(path)
    },
  }
}

type Hook = (verb: string) => void | Promise<void>

/** A client that does something more before a call reaches the API server, or after it was carried out: fail, say. */
export function interposed(client: KubeClient, hooks: { before?: Hook; after?: Hook }): KubeClient {
  return new Proxy(client, {
    get(target, verb: string) {
      const call = Reflect.get(target, verb) as (...values: unknown[]) => Promise<unknown>
      return async (...values: unknown[]) => {
        await hooks.before?.(verb)
        const answer = await call(...values)
        await hooks.after?.(verb)
        return answer
      }
    },
  })
}
