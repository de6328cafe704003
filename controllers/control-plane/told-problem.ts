import type { Log } from '../../kube/log.ts'

/** The problem that people were told of last. */
export type ToldProblem = {
  current: () => string | undefined
  /** Logs a problem that is new, and its end. */
  tell(problem: string | undefined): void
  /** Another guardian knows better from now on. */
  forget(): void
}

/** No problem so far. `address` is the control-plane address, if it is known. */
export function toldProblem(log: Log, address: () => string | undefined): ToldProblem {
  let told: string | undefined
  return {
    current: () => told,
    forget: () => void (told = undefined),
    tell(problem) {
      const before = told
      told = problem
      if (problem === undefined && before !== undefined)
        return log.info({ address: address() }, 'control-plane address is well')
      if (problem !== undefined && withoutNumbers(problem) !== withoutNumbers(before ?? ''))
        log.warn({ address: address(), problem }, 'control-plane address')
    },
  }
}

/** A count that grows makes no new problem. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/\d+/g, '')
}
