/** Runs the work of each key in the order of the calls, one piece at a time. Different keys do not wait for each other. */
export type InTurn = {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** How many pieces of work of a key run or wait. */
  count: (key: string) => number
}

/** Starts without any work. */
export function inTurn(): InTurn {
  const last = new Map<string, { ended: Promise<unknown>; count: number }>()
  return {
    count: (key) => last.get(key)?.count ?? 0,
    run(key, work) {
      const { ended, count } = last.get(key) ?? { ended: Promise.resolve(), count: 0 }
      const turn = ended.then(work, work)
      last.set(key, { ended: turn, count: count + 1 })
      const end = () => {
        const now = last.get(key)
        if (!now || now.count === 1) last.delete(key)
        else last.set(key, { ...now, count: now.count - 1 })
      }
      turn.then(end, end)
      return turn
    },
  }
}
