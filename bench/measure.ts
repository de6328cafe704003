export type Unit = 'ms' | 'MiB' | 'calls' | 'Services' | 'objects' | 'per s'

/** What a figure should be: the ratio to what it was measured beside, or the figure itself. */
export type Goal = { of: 'ratio' | 'ours' } & ({ atMost: number } | { atLeast: number })

/** One line of the table. Samples of the same round stand at the same place: ratios are made within a round. */
export type Row = {
  measure: string
  unit: Unit
  ours: number[]
  beside?: { what: string; samples: number[] }
  goal?: Goal
}

/** Measures and says what it saw; it leaves nothing running. */
export type Measure = () => Promise<Row[]>
