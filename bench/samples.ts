/** The median of samples. */
export function median(samples: number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const middle = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1)
  return middle.reduce((sum, sample) => sum + sample, 0) / middle.length
}

/** The time that work takes, in milliseconds. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Runs contenders round by round in changing order, so that a slow machine slows all of them. */
export async function inRounds<Name extends string>(
  rounds: number,
  contenders: Record<Name, (round: number) => Promise<void>>,
): Promise<void> {
  const all = Object.values<(round: number) => Promise<void>>(contenders)
  for (let round = 0; round < rounds; round += 1) {
    const first = round % all.length
    for (const contend of [...all.slice(first), ...all.slice(0, first)]) await contend(round)
  }
}
