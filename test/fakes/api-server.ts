import { isDeepStrictEqual } from 'node:util'
import jsonPatch, { type Operation } from 'fast-json-patch'
import type { At, CallOptions, KubeClient, ListOptions, Patch, WriteOptions } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts'
import { pathOf, type Resource } from '../../kube/resource.ts'
import { copyOf } from './copy.ts'
import { mergePatched } from './merge-patch.ts'
import { isSelected } from './selected.ts'

export type ApiServer = {
  client: KubeClient
  /** The paths of the client's writes, in order, including those that changed nothing. */
  writes: string[]
  /** All stored objects of a kind. */
  stored<T extends KubeObject>(resource: Resource<T>): T[]
  /** All stored objects of all kinds. */
  everything(): KubeObject[]
  /** Stores an object as it is, including its status: the state before the test, or a change by an operator. */
  put<T extends KubeObject>(resource: Resource<T>, object: T): T
  /** Removes an object at once, finalizers or not. */
  drop(resource: Resource<KubeObject>, at: At): void
}

export type ApiServerOptions = {
  now?: () => Date
  /** The validation of a kind's schema. A message that it returns is the error of the write. */
  invalid?: (before: KubeObject | undefined, after: KubeObject) => string | undefined
}

type WithStatus = KubeObject & { status?: { conditions?: { type: string }[] } }

const apiError = (status: number, reason: string, message = reason) =>
  new KubeError(`the fake API server: ${message}`, { status, reason })
const notSupported = () => Promise.reject(new Error('the fake API server does not support this call'))

/**
 * An API server in memory, for tests that need faults, many processes or their own clock. It keeps the rules that our
 * code relies on:
 * - names are unique, and the type of a Secret is fixed
 * - a write compares the resource version, and only the subresource writes a status
 * - finalizers delay a deletion
 * - a list has what its namespace and its selectors say
 *
 * Every kind has a status. Unlike a real API server, it requires the resource version in every replace.
 */
export function apiServer({ now = () => new Date(), invalid }: ApiServerOptions = {}): ApiServer {
  const store = new Map<string, KubeObject>()
  const writes: string[] = []
  let version = 0

  function save(path: string, object: KubeObject): KubeObject {
    version += 1
    const saved = copyOf({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    if (saved.metadata.deletionTimestamp && !saved.metadata.finalizers?.length) store.delete(path)
    else store.set(path, saved)
    return saved
  }

  function create(path: string, object: WithStatus): KubeObject {
    if (store.has(path)) throw apiError(409, 'AlreadyExists')
    const { status: _dropped, ...rest } = object
    check(undefined, rest)
    const system = { uid: `uid-${version + 1}`, creationTimestamp: seconds(now()) }
    return save(path, { ...rest, metadata: { ...rest.metadata, ...system } })
  }

  /**
   * Makes an update: of the status through its subresource, of everything else without it. The system's metadata stays.
   */
  function update(path: string, next: WithStatus, { subresource }: WriteOptions): KubeObject {
    const stored: WithStatus | undefined = store.get(path)
    if (!stored) throw apiError(404, 'NotFound')
    const { resourceVersion, uid } = next.metadata
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion)
      throw apiError(409, 'Conflict')
    if (uid !== undefined && uid !== stored.metadata.uid) throw apiError(409, 'Conflict')
    const { status: before, ...rest } = stored
    const { status: after, ...wanted } = next
    const metadata = wanted.metadata
    const changed =
      subresource === 'status'
        ? { ...rest, ...(after === undefined ? {} : { status: after }) }
        : { ...wanted, metadata, ...(before === undefined ? {} : { status: before }) }
    const kept = withSystem(changed, stored)
    check(stored, kept)
    return isDeepStrictEqual(plain(kept), plain(stored)) ? stored : save(path, kept)
  }

  function check(before: KubeObject | undefined, after: KubeObject): void {
    const had = before?.metadata.finalizers ?? []
    const added = (after.metadata.finalizers ?? []).some((name) => !had.includes(name))
    if (before?.metadata.deletionTimestamp && added)
      throw apiError(422, 'Invalid', 'no new finalizers can be added if the object is being deleted')
    const type = before?.kind === 'Secret' ? typeOf(before) : undefined
    if (type !== undefined && type !== typeOf(after)) throw apiError(422, 'Invalid', 'type: field is immutable')
    const problem = invalid?.(before, after)
    if (problem !== undefined) throw apiError(422, 'Invalid', problem)
  }

  function remove(path: string, target: { uid?: string | undefined; resourceVersion?: string | undefined }): void {
    const stored = store.get(path)
    if (!stored) return
    const { metadata } = stored
    const other = (wanted: string | undefined, is: string | undefined) => wanted !== undefined && wanted !== is
    if (other(target.uid, metadata.uid) || other(target.resourceVersion, metadata.resourceVersion))
      throw apiError(409, 'Conflict')
    if (metadata.deletionTimestamp) return
    save(path, { ...stored, metadata: { ...metadata, deletionTimestamp: seconds(now()) } })
  }

  /**
   * The object after a patch. A merge patch applies to any version, unless it contains one. A strategic patch merges
   * conditions by type, and replaces all other lists.
   */
  function patched(stored: KubeObject, patch: Patch): KubeObject {
    if ('json' in patch) return jsonPatch.applyPatch(copyOf(stored), patch.json as Operation[], true).newDocument
    const { resourceVersion: _any, ...metadata } = stored.metadata
    const after = mergePatched({ ...stored, metadata }, 'merge' in patch ? patch.merge : patch.strategic) as WithStatus
    const { conditions } = after.status ?? {}
    if ('merge' in patch || !conditions) return after
    const others = (stored as WithStatus).status?.conditions?.filter(
      (one) => !conditions.some(({ type }) => type === one.type),
    )
    const status = { ...after.status, conditions: [...(others ?? []), ...conditions] }
    return { ...after, status } as KubeObject
  }

  /** Makes a client's write. The objects under a resource's path have its type, so the result may have any type. */
  function write(path: string, options: CallOptions | undefined, carryOut: () => KubeObject): never {
    options?.signal?.throwIfAborted()
    const after = carryOut()
    writes.push(path)
    return copyOf(after) as never
  }

  const client: KubeClient = {
    async get<T extends KubeObject>(resource: Resource<T>, at: At, options?: CallOptions) {
      options?.signal?.throwIfAborted()
      return copyOf(store.get(pathOf(resource, at))) as T | undefined
    },
    async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      options.signal?.throwIfAborted()
      const selection = { ...options, namespace: resource.namespaced ? options.namespace : undefined }
      const items = stored(resource).filter((one) => isSelected(one, selection))
      return { metadata: { resourceVersion: String(version) }, items }
    },
    apply: notSupported,
    async create(resource, object, options) {
      const path = pathOf(resource, object.metadata)
      if (options?.dryRun) {
        check(undefined, object)
        return copyOf(object)
      }
      return write(path, options, () => create(path, object))
    },
    async replace(resource, object, options = {}) {
      const path = pathOf(resource, object.metadata)
      return write(path, options, () => {
        if (object.metadata.resourceVersion === undefined)
          throw apiError(422, 'Invalid', 'metadata.resourceVersion: must be specified for an update')
        return update(path, object, options)
      })
    },
    async patch(resource, { patch, ...at }, options = {}) {
      const path = pathOf(resource, at)
      return write(path, options, () => {
        const before = store.get(path)
        if (!before) throw apiError(404, 'NotFound')
        return update(path, patched(before, patch), options)
      })
    },
    async remove(resource, target, options) {
      const path = pathOf(resource, target)
      options?.signal?.throwIfAborted()
      remove(path, target)
      writes.push(path)
    },
  }

  function stored<T extends KubeObject>({ kind, apiVersion }: Resource<T>): T[] {
    const objects = [...store.values()].filter((object) => object.kind === kind && object.apiVersion === apiVersion)
    return copyOf(objects) as T[]
  }

  return {
    client,
    writes,
    stored,
    everything: () => copyOf([...store.values()]),
    put: <T extends KubeObject>(resource: Resource<T>, object: T) => {
      const { creationTimestamp = seconds(now()) } = object.metadata
      const metadata = { uid: `uid-${version + 1}`, ...object.metadata, creationTimestamp }
      return copyOf(save(pathOf(resource, metadata), { ...object, metadata })) as T
    },
    drop: (resource, at) => void store.delete(pathOf(resource, at)),
  }
}

const typeOf = (secret: KubeObject & { type?: string }) => secret.type

/** An object with the metadata that only the API server writes, whatever the update contains. */
function withSystem(object: KubeObject, stored: KubeObject): KubeObject {
  const { deletionTimestamp: _asked, ...metadata } = object.metadata
  const { uid, resourceVersion, creationTimestamp, deletionTimestamp } = stored.metadata
  const system = { uid, resourceVersion, creationTimestamp, deletionTimestamp }
  return { ...object, metadata: plain({ ...metadata, ...system }) as ObjectMeta }
}

/** A value as JSON carries it. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const seconds = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z')
