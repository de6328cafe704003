export type Unit = 'ms' | 'KiB' | 'MiB' | 'calls' | 'Services' | 'objects' | 'per s' | 'reads' | 'moves'

/** A goal for a figure, or for its ratio to the reference. */
export type Goal = { of: 'ratio' | 'ours' } & ({ atMost: number } | { atLeast: number })

/** A line of the table. Samples of one round have the same index, because ratios are taken within a round. */
export type Row = {
  measure: string
  unit: Unit
  ours: number[]
  beside?: { what: string; samples: number[] }
  goal?: Goal
}

/** Measures and returns the rows; leaves nothing running. */
export type Measure = () => Promise<Row[]>
