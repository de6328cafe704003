import type { KubeObject, ListMeta } from './objects.ts'
import type { Resource } from './resource.ts'

export type At = { namespace?: string | undefined; name: string }

export type CallOptions = {
  signal?: AbortSignal
  /** The call's own time-out; 10 s unless said. */
  timeoutMs?: number
  dryRun?: boolean
}

export type WriteOptions = CallOptions & {
  subresource?: 'status'
  fieldManager?: string
  /** What becomes of fields that the API server does not know; `Warn` drops them. */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export type ListOptions = CallOptions & {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  continue?: string
}

/** A list of one page or more; `metadata.continue` says that there is more. */
export type List<T> = { metadata: ListMeta; items: T[] }

/** RFC 7386 merge patch (null removes), or an RFC 6902 list of operations. */
export type Patch = { merge: object } | { json: object[] }

/**
 * The door to the API server. Not found is a value on reads and success on removes; every other refusal throws a
 * KubeError. Objects go through untouched, fields we do not know included.
 */
export type KubeClient = {
  get<T extends KubeObject>(resource: Resource<T>, at: At, options?: CallOptions): Promise<T | undefined>
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>>
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** PUT: refused with `conflict` when the object's resourceVersion is not the stored one. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject>(resource: Resource<T>, target: At & { patch: Patch }, options?: WriteOptions): Promise<T>
  /** Server-side apply by a field manager that takes the fields over where another holds them. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: KubeObject,
    options: WriteOptions & { fieldManager: string },
  ): Promise<T>
  /** With `uid` or `resourceVersion` the object is removed only if it still is that one. */
  remove<T extends KubeObject>(
    resource: Resource<T>,
    target: At & { uid?: string | undefined; resourceVersion?: string | undefined },
    options?: CallOptions,
  ): Promise<void>
}
