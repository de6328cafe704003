import type { Log } from '../../kube/log.ts'

/** The problem that was reported last. */
export type ReportedProblem = {
  current: () => string | undefined
  /** Logs a problem that is new, and its end. */
  report(problem: string | undefined): void
  /** Another guardian knows better from now on. */
  forget(): void
}

/** No problem so far. `address` is the control-plane address, if it is known. */
export function reportedProblem(log: Log, address: () => string | undefined): ReportedProblem {
  let reported: string | undefined
  return {
    current: () => reported,
    forget: () => void (reported = undefined),
    report(problem) {
      const before = reported
      reported = problem
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
