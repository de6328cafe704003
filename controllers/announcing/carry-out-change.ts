import type { ObjectConfiguration, Problem } from '../../announcers/announcer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError, isNotFound } from '../../kube/errors.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { missingFrom } from '../../lib/json.ts'
import type { ObjectChange } from './plan-changes.ts'

const fieldManager = 'eip-admission-announcer'

type Deps = { client: KubeClient; configuration: Pick<ObjectConfiguration, 'kinds' | 'sessionsOf' | 'from'> }

/**
 * The outcome of a change. `refused` has a problem for each Service or node that a refused change serves. `failure`:
 * why an object was not removed.
 */
export type ChangeOutcome = {
  refused: Problem[]
  isRefused: boolean
  isWrite: boolean
  hasBegun: boolean
  failure?: Error
}

type Kind = ObjectConfiguration['kinds'][number]
type Write = Extract<ObjectChange, { write: unknown }>

/** Writes what differs from the stored object, or removes an object. A refusal is an outcome, other failures throw. */
export async function carryOutChange(
  { client, configuration }: Deps,
  change: ObjectChange,
  signal: AbortSignal,
): Promise<ChangeOutcome> {
  const { kinds, sessionsOf, from } = configuration
  const { kind } = 'remove' in change ? change.remove : change.write.object
  const known = kinds.find(({ resource }) => resource.kind === kind)
  if (!known) throw new Error(`eip-admission does not know where objects of kind ${kind} are; please report it`)
  if ('remove' in change) {
    const { namespace, name, uid, resourceVersion } = change.remove.metadata
    // A shared object must not be removed if a person has changed it since we read it.
    const at = { namespace, name, uid, ...(known.isShared && { resourceVersion }) }
    const failure = await client.remove(known.resource, at, { signal }).then(() => undefined, ifRefused)
    const isRefused = failure !== undefined
    return { refused: [], isRefused, isWrite: false, hasBegun: false, ...(isRefused && { failure }) }
  }
  const refused = await send(client, { ...change, kind: known }, signal).then(
    () => undefined,
    (error: unknown) => refusals(error, change, from),
  )
  const isNew = !change.stored && sessionsOf?.(change.write.object) !== undefined
  return { refused: refused ?? [], isRefused: refused !== undefined, isWrite: true, hasBegun: isNew && !refused }
}

/**
 * Sends only the differences, in a patch. An apply fails if the object was written in another version. Its managed
 * fields are in the old version, which lacks fields that have a default in the new one. In a shared object, a change by
 * people since our read causes a conflict.
 */
async function send(
  client: KubeClient,
  { write: { object }, stored, kind: { resource, isShared, isPruned, isStrict } }: Write & { kind: Kind },
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = object.metadata
  const options = { fieldManager, signal }
  if (!stored) {
    await (isShared || isPruned ? client.create(resource, object, options) : client.apply(resource, object, options))
    return
  }
  const missing = missingFrom(stored, object) as Partial<KubeObject>
  const { resourceVersion } = stored.metadata
  const merge = isShared ? { ...missing, metadata: { ...missing.metadata, resourceVersion } } : missing
  const validated = { ...options, ...(isStrict && { fieldValidation: 'Strict' as const }) }
  await client.patch(resource, { namespace, name, patch: { merge } }, validated)
}

/**
 * Turns a refusal by the API server or a webhook, an unknown kind or a missing namespace into problems of the subjects.
 * Anything else is an error.
 */
function refusals(error: unknown, { write: { object, subjects }, stored }: Write, from: string): Problem[] {
  if (!(error instanceof KubeError)) throw error
  // If a stored object is not found, it has just been deleted. If a new one is not, its namespace is missing.
  if (!isRefusal(error) && (stored || !isNotFound(error))) throw error
  const isUnknown = error.reason === 'UnknownKind'
  const message = isUnknown ? `the cluster does not know ${object.kind}, which comes with ${from}` : error.message
  return subjects.map((subject) => ({ subject, message }))
}

/** A policy or a webhook may protect an object from removal. */
function ifRefused(error: unknown): KubeError {
  if (error instanceof KubeError && isRefusal(error)) return error
  throw error
}

function isRefusal({ status, reason }: KubeError): boolean {
  return reason === 'UnknownKind' || status === 400 || status === 403 || status === 422
}
