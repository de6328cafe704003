/** The meaning of a value: all is well, it is in progress, a person should look, a person must act, or nothing. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

/** A value. `atMs` shows how long ago a time was, or how far it is. `detail` is below it. */
export type Cell = { text?: string; tone?: Tone; atMs?: number | undefined; detail?: string | undefined; code?: true }

export type Tile = { label: string; value: Cell }

/** `isClear`: its values need no title to be understood, so a phone shows them without it. */
export type Column = string | { title: string; isClear: true }

export type Block =
  /** A few values that matter most. */
  | { kind: 'tiles'; tiles: Tile[] }
  /** `rest` says what the table leaves out. */
  | { kind: 'table'; columns: Column[]; rows: Cell[][]; empty: string; rest?: string | undefined }
  | { kind: 'notes'; notes: { tone: Tone; text: string }[] }

/** A part of the page, under a title of its own. */
export type Section = { id: string; title: string; blocks: Block[] }

/** The page never has more rows: it is for a person, and each view builds it. */
export const maxRows = 500

/** Columns that are clear. */
export function clear(...titles: string[]): Column[] {
  return titles.map((title) => ({ title, isClear: true }))
}

/** The first rows of a table, and what to say about the others. */
export function firstRows<T>(all: readonly T[], how: string): { shown: readonly T[]; rest: string | undefined } {
  const rest = all.length > maxRows ? `${all.length - maxRows} more are not shown here: ${how}` : undefined
  return { shown: all.slice(0, maxRows), rest }
}

/** A text that is not longer than people read at a glance. */
export function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}
