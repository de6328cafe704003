import { quote } from '../../lib/quote.ts'
import { protectAnnotation, reclaimAnnotation } from '../record/names.ts'
import type { ValuePolicy } from '../../settings/service-policy.ts'

/** Returns what is wrong with the values of annotations that allow only a few. */
export function valueProblems(annotations: Record<string, string>, policy: ValuePolicy): string[] {
  const problems: string[] = []
  const managed = policy.managedAnnotation === undefined ? undefined : annotations[policy.managedAnnotation]
  if (managed !== undefined && managed !== 'true') {
    problems.push(`annotation ${policy.managedAnnotation}: ${quote(managed)} is neither "true" nor "false"`)
  }
  const reclaim = annotations[reclaimAnnotation] ?? policy.reclaimPolicy
  if (reclaim !== 'Delete' && reclaim !== 'Retain') {
    problems.push(`annotation ${reclaimAnnotation}: ${quote(reclaim)} is neither "Delete" nor "Retain"`)
  }
  if (reclaim === 'Retain' && reclaim !== policy.reclaimPolicy && !policy.allowRetain) {
    problems.push(
      `annotation ${reclaimAnnotation}: "Retain" is not allowed in this cluster (--allow-retain); remove it`,
    )
  }
  const protect = annotations[protectAnnotation] ?? 'false'
  if (!['true', 'false'].includes(protect)) {
    problems.push(`annotation ${protectAnnotation}: ${quote(protect)} is neither "true" nor "false"`)
  }
  return problems
}
