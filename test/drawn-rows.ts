// Tables that a comment draws above a decision. A test names a case for each row, and the row must state that case's
// outcome. So a wrong row fails, and so does a new row without a case.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

/** The tables of a source, as rows of cells without their heads. A line with an empty first cell continues its row. */
export function drawnTables(source: string): string[][][] {
  const tables: string[][][] = []
  let rows: string[][] | undefined
  for (const line of source.split('\n')) {
    const [, sign, written] = /^\s*(\/\/|\*) (.*)$/.exec(line) ?? []
    const text = sign === '*' ? written?.trim().replace(/^\|(.*)\|$/, '$1') : written
    if (text !== undefined && /^[-+| ]{4,}$/.test(text)) {
      rows = []
      tables.push(rows)
    } else if (rows && text?.includes('|')) {
      const cells = text.split('|').map((cell) => cell.trim())
      const last = cells[0] === '' ? rows.pop() : undefined
      rows.push(last ? last.map((cell, n) => `${cell} ${cells[n] ?? ''}`.trim()) : cells)
    } else rows = undefined
  }
  return tables
}

/** The cells with the outcomes: by default, the last column of the first table in the file. */
type Place = string | { file: string; table?: number; cell?: number }

/** Adds a test that each row of a file's table states its case's outcome, which is a word of a cell. */
export function testRows(
  place: Place,
  cases: readonly (readonly [name: string, outcome: string])[],
  shown: readonly string[],
): void {
  const { file, table = 0, cell = -1 } = typeof place === 'string' ? { file: place } : place
  test(`each row that ${file} draws in table ${table + 1} is what a case shows`, () => {
    const rows = drawnTables(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))[table] ?? []
    assert.is(shown.length, rows.length)
    assert.equal(
      rows.flatMap((row, n) => wrongRow(row, row.at(cell) ?? '', { cases, shown: shown[n] ?? '' })),
      [],
    )
  })
}

function wrongRow(
  row: string[],
  said: string,
  { cases, shown }: { cases: readonly (readonly [string, string])[]; shown: string },
): string[] {
  const outcomes = cases.filter(([name]) => name === shown).map(([, outcome]) => outcome)
  const isSaid = outcomes.some((outcome) => new RegExp(`(?<![\\w-])(?:${outcome})(?![\\w-])`).test(said))
  return isSaid ? [] : [`${row.join(' | ')}: "${shown}" comes to ${outcomes.join(' or ') || 'nothing: no such case'}`]
}
