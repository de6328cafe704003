/** Runs work of one key one after another, in the order of the calls. Work of other keys does not wait. */
export type InTurn = {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** How many works of a key run or wait. */
  count: (key: string) => number
}

/** No work yet. */
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
