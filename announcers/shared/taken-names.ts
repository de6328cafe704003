import type { KubeObject } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import type { Problem, WantedObject } from '../announcer.ts'
import { distinctProblems } from './order.ts'

/** The objects whose name no foreign object has, and a problem for each of the others beside those that are known. */
export function omitTakenNames(
  wanted: readonly WantedObject[],
  foreign: readonly KubeObject[],
  known: readonly Problem[],
): { wanted: WantedObject[]; problems: Problem[] } {
  const isTaken = ({ object }: WantedObject) =>
    foreign.some(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name)
  const refused = wanted.filter(isTaken).flatMap(({ object, subjects }) => {
    const name = object.metadata.namespace === undefined ? object.metadata.name : keyOf(object)
    const message = `${object.kind} ${name} exists and eip-admission does not manage it, so it is not changed; delete or rename it`
    return subjects.map((subject) => ({ subject, message }))
  })
  return { wanted: wanted.filter((one) => !isTaken(one)), problems: distinctProblems([...known, ...refused]) }
}
