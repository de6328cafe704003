/** The meaning of a value: all is well, in progress, a person should look, a person must act, or none. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

/** A value. `atMs` shows how long ago a time was, or how far off it is. `detail` is shown below it. */
export type Cell = { text?: string; tone?: Tone; atMs?: number | undefined; detail?: string | undefined; code?: true }

export type Tile = { label: string; value: Cell }

/** `isClear`: its values are clear without a title, so a phone shows none. */
export type Column = string | { title: string; isClear: true }

export type Block =
  /** The few values that matter most. */
  | { kind: 'tiles'; tiles: Tile[] }
  /** `rest` describes the rows that the table leaves out. */
  | { kind: 'table'; columns: Column[]; rows: Cell[][]; empty: string; rest?: string | undefined }
  | { kind: 'notes'; notes: { tone: Tone; text: string }[] }

/** A part of the page under its own title. */
export type Section = { id: string; title: string; blocks: Block[] }

/** The maximum number of rows in a table: people read it, and every view builds it. */
export const maxRows = 500

/** Makes columns that are clear without their titles. */
export function clear(...titles: string[]): Column[] {
  return titles.map((title) => ({ title, isClear: true }))
}

/** The first rows of a table, and a text about the others. */
export function firstRows<T>(all: readonly T[], how: string): { shown: readonly T[]; rest: string | undefined } {
  const rest = all.length > maxRows ? `${all.length - maxRows} more are not shown here: ${how}` : undefined
  return { shown: all.slice(0, maxRows), rest }
}

/** Cuts a text to a length that people read at a glance. */
export function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}
