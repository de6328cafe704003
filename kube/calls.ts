import type { At, CallOptions, ListOptions, Patch, WriteOptions } from './client.ts'
import type { Call } from './http.ts'
import { type KubeObject, keyOf } from './objects.ts'
import { type Resource, pathOf } from './resource.ts'

/** The requests to the API server, with one function per verb. They are pure; the client sends them. */

type Any = Resource<KubeObject>

const json = 'application/json'
const contentTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  // The content type says YAML, but JSON is valid YAML.
  apply: 'application/apply-patch+yaml',
}

/** GET of one object. */
export function getCall(resource: Any, at: At): Call {
  return { name: callName('get', resource, at), method: 'GET', path: pathTo(resource, at), idempotent: true }
}

/** GET of a collection, or of a page of it. */
export function listCall(resource: Any, options: ListOptions): Call {
  const { namespace, labelSelector, fieldSelector, limit, continue: token } = options
  return {
    name: `list ${resource.kind}${namespace === undefined ? '' : ` in ${namespace}`}`,
    method: 'GET',
    path: pathOf(resource, { namespace }),
    query: { labelSelector, fieldSelector, limit, continue: token },
    idempotent: true,
  }
}

/** POST to the collection. */
export function createCall(resource: Any, object: KubeObject, options: WriteOptions): Call {
  const { isReview = false } = resource
  const { namespace } = isReview ? object.metadata : withName(resource, object.metadata)
  return {
    name: isReview ? `create ${resource.kind}` : callName('create', resource, object.metadata),
    method: 'POST',
    path: pathOf(resource, { namespace }),
    query: writeQuery(options),
    body: { type: json, value: object },
    onWarning: options.onWarning,
    idempotent: isReview,
  }
}

/** PUT of one object. Without a resourceVersion it overwrites any version, so it must not be sent twice. */
export function replaceCall(resource: Any, object: KubeObject, options: WriteOptions): Call {
  return {
    name: callName('replace', resource, object.metadata),
    method: 'PUT',
    path: pathTo(resource, object.metadata, options.subresource),
    query: writeQuery(options),
    body: { type: json, value: object },
    idempotent: object.metadata.resourceVersion !== undefined,
  }
}

/** PATCH with a merge patch, which may be sent twice, or with operations, which may not. */
export function patchCall(resource: Any, target: At & { patch: Patch }, options: WriteOptions): Call {
  const { patch } = target
  return {
    name: callName('patch', resource, target),
    method: 'PATCH',
    path: pathTo(resource, target, options.subresource),
    query: writeQuery(options),
    body: patchBody(patch),
    idempotent: !('json' in patch),
  }
}

function patchBody(patch: Patch) {
  if ('merge' in patch) return { type: contentTypes.merge, value: patch.merge }
  if ('strategic' in patch) return { type: contentTypes.strategic, value: patch.strategic }
  return { type: contentTypes.json, value: patch.json }
}

/** PATCH by server-side apply. */
export function applyCall(resource: Any, object: KubeObject, options: WriteOptions): Call {
  return {
    name: callName('apply', resource, object.metadata),
    method: 'PATCH',
    path: pathTo(resource, object.metadata, options.subresource),
    query: { ...writeQuery(options), force: true },
    body: { type: contentTypes.apply, value: object },
    idempotent: true,
  }
}

/** DELETE of one object. */
export function removeCall(
  resource: Any,
  target: At & { uid?: string | undefined; resourceVersion?: string | undefined },
  options: CallOptions,
): Call {
  const { uid, resourceVersion } = target
  // With these options, the API server ignores those in the query. A dry run only there would delete the object.
  const deletion = { preconditions: { uid, resourceVersion }, ...(options.dryRun && { dryRun: ['All'] }) }
  return {
    name: callName('remove', resource, target),
    method: 'DELETE',
    path: pathTo(resource, target),
    body: { type: json, value: { apiVersion: 'v1', kind: 'DeleteOptions', ...deletion } },
    idempotent: true,
  }
}

function writeQuery({ fieldManager, dryRun, fieldValidation }: WriteOptions) {
  return { fieldManager, fieldValidation, dryRun: dryRun ? 'All' : undefined }
}

function pathTo(resource: Any, at: At, subresource?: string): string {
  const { namespace, name } = withName(resource, at)
  return pathOf(resource, { namespace, name, subresource })
}

/** Throws if the name or namespace is missing: the path would name a whole collection, of one namespace or of all. */
function withName(resource: Any, at: At): At {
  if (at.name === '') throw new Error(`${resource.kind}: it has no name`)
  if (resource.namespaced && !at.namespace) throw new Error(`${resource.kind} ${at.name}: it has no namespace`)
  return at
}

function callName(verb: string, resource: Any, at: At): string {
  return `${verb} ${resource.kind} ${keyOf({ metadata: at })}`
}
