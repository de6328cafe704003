/** The time that one question to the cloud may take, its turn in the queue included. */
export type TimeLimit = {
  /** Ends the calls that are in flight when the time is over. */
  signal: AbortSignal
  /** Whether the time is over by the clock; a timer rings late in a process that was frozen. */
  isOver(): boolean
}

/** A budget that begins now. */
export function timeLimit(ms: number): TimeLimit {
  const endMs = performance.now() + ms
  return { signal: AbortSignal.timeout(ms), isOver: () => performance.now() >= endMs }
}
