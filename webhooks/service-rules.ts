import type { Service } from '../kube/objects.ts'
import { keyOf } from '../kube/objects.ts'
import type { Want } from '../ledger/want.ts'
import { addressAnnotation } from '../ledger/names.ts'
import type { AdmissionRequest } from './review.ts'

/** The Service of a request that is ours to judge, with the namespace it will have. */
export function serviceOf(request: AdmissionRequest<Service>, isSelf: (user: string) => boolean): Service | undefined {
  const { object, oldObject, namespace } = request
  if (!object || object.kind !== 'Service' || !object.spec || request.subResource) return undefined
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined
  // Whatever a terminating object still needs, refusing or changing it could keep it from ever going.
  if (oldObject?.metadata.deletionTimestamp || isSelf(request.userInfo?.username ?? '')) return undefined
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

/** The address of ours that a Service shows or showed. */
export function shownAddress(service: Service | null): string | undefined {
  return service?.metadata.annotations?.[addressAnnotation]
}

/** What is wrong with a Service that was not wrong with it before; nobody is refused for what they did not touch. */
export function newProblems(now: Want, before: Want | undefined): string[] {
  if (now.kind !== 'wrong') return []
  const known = before?.kind === 'wrong' ? before.problems : []
  return now.problems.filter((problem) => !known.includes(problem))
}

/** One text with every problem of a Service, for a terminal. */
export function problemText(service: Service, problems: string[]): string {
  const { name, generateName } = service.metadata
  const who = `Service ${name ? keyOf(service) : `${service.metadata.namespace}/${generateName}*`}`
  const [only] = problems
  if (problems.length === 1) return `${who}: ${only}`
  return `${who}: ${problems.length} mistakes:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`
}
