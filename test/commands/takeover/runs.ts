import { applyTakeover } from '../../../commands/takeover/apply/apply.ts'
import { type UndoDeps, undoTakeover } from '../../../commands/takeover/undo/undo.ts'
import type { World } from './world.ts'

/** Dependencies of a run of either command; its lines are kept in `lines`. */
export const common = (of: World, lines: string[] = []) => ({
  client: of.client(),
  clock: of.clock,
  tell: (line: string) => void lines.push(line),
  signal: new AbortController().signal,
  patienceMs: 1e9,
})

/** Takes over, as one run. */
export const apply = (of: World, lines?: string[]) =>
  applyTakeover({ ...common(of, lines), makePlan: async () => of.plan(), install: of.install })

/** Gives back, as one run, after a person has stopped our process. */
export async function undo(of: World, lines?: string[], more: Partial<UndoDeps> = {}) {
  of.state.isOurs = false
  const held = of.holder()
  if (held?.spec?.holderIdentity?.startsWith('ours_'))
    of.api.drop({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true }, of.lease)
  return undoTakeover({ ...common(of, lines), namespace: 'eip-admission', ...more })
}

/** Whether a line says that a step with this title begins, wherever it stands among the others. */
export const begins = (line: string | undefined, title: string) =>
  line?.replace(/^\[\d+\/\d+\] /, '').startsWith(title) ?? false
