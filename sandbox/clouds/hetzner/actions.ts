import { refusedFor } from './errors.ts'
import { isLocked } from './render.ts'
import type { Action, State } from './state.ts'

type Started = {
  project: number
  command: string
  resources: Action['resources']
  /** The work of the action; it happens when the action ends. Returns whether it could. */
  carryOut: () => boolean | void
}

/**
 * Starts an action that ends after a while. With strict locks, throws 423 while another one runs on the same object.
 */
export function startAction(state: State, { project, command, resources, carryOut }: Started): Action {
  const busy = resources.find(({ id }) => isLocked(state, id))
  const { lock } = state.behaviour
  const text = `cannot perform operation because ${busy?.type} is locked`
  if (busy && lock === 'strict') throw refusedFor(423, 'locked', { message: text })
  const failure =
    busy && lock === 'late' ? { code: 'unknown_error', message: `${busy.type} is locked` } : state.actionError
  const action: Action = {
    id: state.newId(),
    project,
    command,
    status: 'running',
    startedAtMs: state.now(),
    finishedAtMs: undefined,
    resources,
    error: null,
  }
  state.actions.set(action.id, action)
  const end = () => {
    const isDone = !failure && carryOut() !== false
    if (!isDone) action.error = failure ?? { code: 'action_failed', message: 'Action failed' }
    action.status = isDone ? 'success' : 'error'
    action.finishedAtMs = state.now()
  }
  const { fromMs, toMs } = state.action
  const ms = fromMs + Math.random() * (toMs - fromMs)
  if (ms > 0) state.schedule(ms, end)
  else end()
  return action
}
