// Splits prose into sentences and counts their words. Prose is a comment or a part of a page, as it is written.

/** A sentence as it is written, and its line in the file. */
export type Sentence = { line: number; words: number; text: string }

/** The most words that a sentence may have: a longer one needs a second reading. */
export const maxWords = 25

/** A comment, a paragraph, an item of a list or a cell of a table, and the line where it begins. */
export type Paragraph = { line: number; text: string }

const abbreviations = /(?:^|[\s("'])(?:e\.g|i\.e|etc|cf|vs|approx|resp)\.$/i

/** A point, its closing quotes and brackets, and then a space or the end. A lone `...` ends nothing. */
const ends = /(?<=[^\s.])(?:\.+|[!?]+)["'”’)\]*_]*(?=\s|$)/g

/** A piece that reads as one word, in spite of spaces and points: code, a JSDoc link, a link's target, an address. */
const units = /(`+)[^`][\s\S]*?\1|\{@\w+ [^}]*\}|\]\([^)]*\)|\bhttps?:\/\/[^\s)]*[^\s).,:;!?]/g

/** The sentences of a paragraph. A colon or a semicolon ends none. */
export function sentencesOf({ line, text }: Paragraph): Sentence[] {
  const masked = text.replaceAll(units, (unit) => 'x'.repeat(unit.length))
  const stops = [...masked.matchAll(ends)]
    .map((found) => ({ point: found.index + 1, end: found.index + found[0].length }))
    .filter(({ point, end }) => end === masked.length || !abbreviations.test(masked.slice(0, point)))
    .map(({ end }) => end)
  const starts = [0, ...stops]
  return starts.flatMap((start, at) => {
    const end = starts[at + 1] ?? text.length
    const words = masked.slice(start, end).split(/\s+/).filter(isWord).length
    if (words === 0) return []
    const begin = start + text.slice(start).search(/\S/)
    return { line: line + text.slice(0, begin).split('\n').length - 1, words, text: onOneLine(text.slice(begin, end)) }
  })
}

/** The paragraphs of a comment. Blank lines, items of lists and JSDoc tags begin one; fenced code is left out. */
export function paragraphsOf({ line, text }: Paragraph): Paragraph[] {
  const paragraphs: Paragraph[] = []
  let open: Paragraph | undefined
  for (const [at, row] of withoutFences(text).split('\n').entries()) {
    const cells = cellsOf(row)
    const rest = row.replace(/^\s*(?:[-*]|\d+[.)]|@\w+)(?:\s+|$)/, '')
    if (cells) paragraphs.push(...cells.map((cell) => ({ line: line + at, text: cell })))
    if (cells || row.trim() === '') open = undefined
    else if (open && rest === row) open.text += `\n${row}`
    else paragraphs.push((open = { line: line + at, text: rest }))
  }
  return paragraphs
}

/** The text with empty lines where fenced code was, so that the lines keep their numbers. */
function withoutFences(text: string): string {
  return text.replaceAll(/^\s*```[\s\S]*?(?:```|$(?![\s\S]))/gm, (code) => code.replaceAll(/[^\n]+/g, ''))
}

/** The cells of a row of a table, none where the row separates others; undefined for prose. */
function cellsOf(row: string): string[] | undefined {
  if (/^[\s|+-]*--[\s|+-]*$/.test(row)) return []
  const cells = row.split(/(?:^|\s)\|(?:\s|$)/)
  return cells.length > 1 ? cells : undefined
}

function isWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
