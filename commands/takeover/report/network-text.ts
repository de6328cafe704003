import type { PlannedObject, TakeoverPlan } from '../plan/plan.ts'
import { section, table } from './text.ts'

/** How many objects are named one by one. With 200 nodes there are hundreds of peers. */
const maxNamed = 40

/** What happens to nodes. */
export function nodesText({ nodes }: TakeoverPlan): string {
  const changed = nodes.filter(({ change }) => change !== 'none')
  const named = changed.slice(0, maxNamed)
  const rest = changed.length - named.length
  return section(`Nodes (${nodes.length})`, [
    changed.length === 0 ? 'none changes' : `${changed.length} get other annotations; nothing else of a node changes`,
    ...table(
      named.map(({ name, annotations: [first = '', ...more] }) => [
        name,
        first,
        more.length > 0 ? `and ${more.length} more` : '',
      ]),
    ),
    ...(rest > 0 ? [`and ${rest} more: see -o json`] : []),
  ])
}

const changeTexts = {
  kept: 'stays as it is',
  adopted: 'gets our labels',
  changed: 'changes',
  added: 'is added',
  removed: 'is removed',
} as const

/** What happens to the objects of the announcing software. */
export function announcingText({ announcer: { name, objects, interruptedSessions } }: TakeoverPlan): string {
  const counts = Map.groupBy(objects, ({ kind, change }) => `${kind} ${change}`)
  const summary = [...counts.values()].flatMap((group) => {
    const [first] = group
    return first ? [[`${group.length} ${first.kind}`, changeTexts[first.change]]] : []
  })
  const notable = objects.filter(({ change }) => change !== 'kept' && change !== 'adopted')
  const named = notable.slice(0, maxNamed).map(objectRow)
  const rest = notable.length - named.length
  return section(`Announcing (${name})`, [
    ...table(summary),
    ...table(named),
    ...(rest > 0 ? [`and ${rest} more: see -o json`] : []),
    ...(interruptedSessions > 0
      ? [`${interruptedSessions} BGP sessions begin again, in waves: every address keeps a way`]
      : objects.length > 0
        ? ['no BGP session is interrupted']
        : ['nothing is written for it']),
  ])
}

function objectRow({ kind, name, change, fields }: PlannedObject): string[] {
  return [`${kind} ${name}`, changeTexts[change], fields.join(', ')]
}
