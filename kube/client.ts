import type { KubeObject, ListMeta } from './objects.ts'
import type { Resource } from './resource.ts'

export type At = { namespace?: string | undefined; name: string }

export type CallOptions = {
  signal?: AbortSignal
  /** The time-out of this call; 10 s by default. */
  timeoutMs?: number
  dryRun?: boolean
}

/** Receives each warning of the API server, as kubectl would print it. */
export type OnWarning = (text: string) => void

export type WriteOptions = CallOptions & {
  subresource?: 'status'
  fieldManager?: string
  /** How the API server treats unknown fields; `Warn` drops them. */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  onWarning?: OnWarning
}

export type ListOptions = CallOptions & {
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
  limit?: number
  continue?: string | undefined
}

/** A page of a list. `metadata.continue` is set if more pages follow. */
export type List<T> = { metadata: ListMeta; items: T[] }

/** An RFC 7386 merge patch (null removes), the same with lists merged by key, or RFC 6902 operations. */
export type Patch = { merge: object } | { strategic: object } | { json: object[] }

/**
 * The client of the API server. Not found is `undefined` on reads and success on removes; every other failure throws a
 * KubeError. Objects pass unchanged, including unknown fields.
 *
 * It is hand-written because client-node 2.0.1 opens a TLS connection for each request. Also, it drops fields newer
 * than its models, even in an apply. The rest of this room builds on it for the same reason.
 */
export type KubeClient = {
  get<T extends KubeObject>(resource: Resource<T>, at: At, options?: CallOptions): Promise<T | undefined>
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>>
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** PUT. Throws a conflict if the object's resourceVersion is not the stored one. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject>(resource: Resource<T>, target: At & { patch: Patch }, options?: WriteOptions): Promise<T>
  /** Server-side apply with `force`: the field manager takes over fields from their previous owner. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: KubeObject,
    options: WriteOptions & { fieldManager: string },
  ): Promise<T>
  /** Deletes an object; with `uid` or `resourceVersion` only if they still match. */
  remove<T extends KubeObject>(
    resource: Resource<T>,
    target: At & { uid?: string | undefined; resourceVersion?: string | undefined },
    options?: CallOptions,
  ): Promise<void>
}
