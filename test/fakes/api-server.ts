import { isDeepStrictEqual } from 'node:util'
import type { At, CallOptions, KubeClient, WriteOptions } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts'
import { pathOf, type Resource } from '../../kube/resource.ts'

export type ApiServer = {
  client: KubeClient
  /** Everything of one kind that is stored now. */
  stored<T extends KubeObject>(resource: Resource<T>): T[]
  /** Writes as it comes, status included: what was there before the test begins, or what a person forces. */
  put<T extends KubeObject>(resource: Resource<T>, object: T): T
}

export type ApiServerOptions = {
  now?: () => Date
  /** The rules of a kind's schema; what it answers is the message of a refusal. */
  invalid?: (before: KubeObject | undefined, after: KubeObject) => string | undefined
}

type WithStatus = KubeObject & { status?: unknown }

const refused = (status: number, reason: string, message = reason) =>
  new KubeError(`the fake API server: ${message}`, { status, reason })
const unused = () => Promise.reject(new Error('the fake API server has no such call'))

/**
 * What of the API server the ledger leans on, in memory: names that are taken, resource versions that are compared and
 * swapped, a status that only its subresource writes, finalizers that hold what was deleted. Every kind has a status.
 */
export function apiServer({ now = () => new Date(), invalid }: ApiServerOptions = {}): ApiServer {
  const store = new Map<string, KubeObject>()
  let version = 0

  function save(path: string, object: KubeObject): KubeObject {
    version += 1
    const saved = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    if (saved.metadata.deletionTimestamp && !saved.metadata.finalizers?.length) store.delete(path)
    else store.set(path, saved)
    return saved
  }

  function create(path: string, object: WithStatus): KubeObject {
    if (store.has(path)) throw refused(409, 'AlreadyExists')
    const { status: _dropped, ...rest } = object
    check(undefined, rest)
    const born = { uid: `uid-${version + 1}`, creationTimestamp: seconds(now()) }
    return save(path, { ...rest, metadata: { ...rest.metadata, ...born } })
  }

  /** What an update leaves: the system's metadata is kept, and the status and the rest have a door each. */
  function update(path: string, next: WithStatus, { subresource }: WriteOptions): KubeObject {
    const stored: WithStatus | undefined = store.get(path)
    if (!stored) throw refused(404, 'NotFound')
    const { resourceVersion, uid } = next.metadata
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion)
      throw refused(409, 'Conflict')
    if (uid !== undefined && uid !== stored.metadata.uid) throw refused(409, 'Conflict')
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
      throw refused(422, 'Invalid', 'no new finalizers can be added if the object is being deleted')
    const problem = invalid?.(before, after)
    if (problem !== undefined) throw refused(422, 'Invalid', problem)
  }

  function remove(path: string, target: { uid?: string | undefined; resourceVersion?: string | undefined }): void {
    const stored = store.get(path)
    if (!stored) return
    const { metadata } = stored
    const other = (wanted: string | undefined, is: string | undefined) => wanted !== undefined && wanted !== is
    if (other(target.uid, metadata.uid) || other(target.resourceVersion, metadata.resourceVersion))
      throw refused(409, 'Conflict')
    if (metadata.deletionTimestamp) return
    save(path, { ...stored, metadata: { ...metadata, deletionTimestamp: seconds(now()) } })
  }

  const client: KubeClient = {
    async get<T extends KubeObject>(resource: Resource<T>, at: At, options?: CallOptions) {
      options?.signal?.throwIfAborted()
      return structuredClone(store.get(pathOf(resource, at))) as T | undefined
    },
    async list<T extends KubeObject>({ apiVersion, kind }: Resource<T>, options?: CallOptions) {
      options?.signal?.throwIfAborted()
      const items = [...store.values()].filter((object) => object.kind === kind && object.apiVersion === apiVersion)
      return { metadata: { resourceVersion: String(version) }, items: structuredClone(items) as T[] }
    },
    apply: unused,
    async create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions) {
      options?.signal?.throwIfAborted()
      return structuredClone(create(pathOf(resource, object.metadata), object)) as T
    },
    async replace<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}) {
      options.signal?.throwIfAborted()
      return structuredClone(update(pathOf(resource, object.metadata), object, options)) as T
    },
    async patch(resource, { patch, ...at }, options = {}) {
      options.signal?.throwIfAborted()
      const stored = store.get(pathOf(resource, at))
      if (!stored || !('merge' in patch)) throw refused(404, 'NotFound')
      const { resourceVersion: _any, ...metadata } = stored.metadata
      const merged = merge({ ...stored, metadata }, patch.merge) as KubeObject
      return structuredClone(update(pathOf(resource, at), merged, options)) as never
    },
    async remove(resource, target, options) {
      options?.signal?.throwIfAborted()
      remove(pathOf(resource, target), target)
    },
  }
  return {
    client,
    stored: <T extends KubeObject>({ kind, apiVersion }: Resource<T>) =>
      [...store.values()]
        .filter((object) => object.kind === kind && object.apiVersion === apiVersion)
        .map((object) => structuredClone(object) as T),
    put: <T extends KubeObject>(resource: Resource<T>, object: T) => {
      const { creationTimestamp = seconds(now()) } = object.metadata
      const metadata = { uid: `uid-${version + 1}`, ...object.metadata, creationTimestamp }
      return structuredClone(save(pathOf(resource, metadata), { ...object, metadata })) as T
    },
  }
}

/** The system alone writes these, whatever an update says. */
function withSystem(object: KubeObject, stored: KubeObject): KubeObject {
  const { deletionTimestamp: _asked, ...metadata } = object.metadata
  const { uid, resourceVersion, creationTimestamp, deletionTimestamp } = stored.metadata
  const system = { uid, resourceVersion, creationTimestamp, deletionTimestamp }
  return { ...object, metadata: plain({ ...metadata, ...system }) as ObjectMeta }
}

/** As it would come over the wire. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const seconds = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z')

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merge(result[name], value)
  }
  return result
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
