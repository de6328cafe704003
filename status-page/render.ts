import { createHash } from 'node:crypto'
import { Html, html } from './html.ts'
import type { Block, Cell, Section, Tone } from './section.ts'
import { styleSheet } from './style-sheet.ts'

/** The browser may use our style, but runs no script. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(styleSheet).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

// Kept in one piece, because any other whitespace inside would change its hash.
const style = new Html(`<style>${styleSheet}</style>`)

/** How often a browser reloads the page. */
const reloadS = 5

/** Renders the whole page. */
export function renderPage(sections: readonly Section[], nowMs: number): string {
  const links = sections.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>eip-admission</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta http-equiv="refresh" content="${reloadS}" />
        ${style}
      </head>
      <body>
        <header>
          <h1>eip-admission</h1>
          <p>as of <time datetime="${isoText(nowMs)}">${isoText(nowMs).slice(11, 19)} UTC</time></p>
          <nav aria-label="Sections">${links}</nav>
        </header>
        <main>${sections.map((section) => renderSection(section, nowMs))}</main>
      </body>
    </html> `.text
}

function renderSection({ id, title, blocks }: Section, nowMs: number): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${blocks.map((block) => renderBlock(block, nowMs))}
  </section> `
}

function renderBlock(block: Block, nowMs: number): Html {
  switch (block.kind) {
    case 'tiles':
      return html`<dl class="tiles">
        ${block.tiles.map(
          ({ label, value }) =>
            html`<div>
              <dt>${label}</dt>
              <dd>${renderCell(value, nowMs)}</dd>
            </div>`,
        )}
      </dl>`
    case 'notes':
      return html`<ul class="notes">
        ${block.notes.map(({ tone, text }) => html`<li class="${tone}">${mark(tone)}<span>${text}</span></li>`)}
      </ul>`
    case 'table':
      return renderTable(block, nowMs)
  }
}

function renderTable({ columns, rows, empty, rest }: Extract<Block, { kind: 'table' }>, nowMs: number): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  const labels = columns.map((column) => (typeof column === 'string' ? html` data-label="${column}"` : undefined))
  const cells = (row: Cell[]) =>
    row.map((cell, n) => html`<td${labels[n]}>${renderCell(isLong(cell) ? withoutDetail(cell) : cell, nowMs)}</td>`)
  const body = rows.map(
    (row) =>
      html`<tr>
          ${cells(row)}
        </tr>
        ${row.filter(isLong).map(({ detail }) => messageRow(columns.length, detail))}`,
  )
  const head = columns.map((column) => html`<th scope="col">${typeof column === 'string' ? column : column.title}</th>`)
  return html`<table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
    ${rest === undefined ? undefined : html`<p class="rest">${rest}</p>`}`
}

/** Whether a message is too long for a cell, where it would take the width from all other columns. */
const isLong = ({ detail = '' }: Cell) => detail.length > 60

const withoutDetail = (cell: Cell): Cell => ({ ...cell, detail: undefined })

function messageRow(columns: number, message: string | undefined): Html {
  return html`<tr class="more">
    <td colspan="${columns}"><small>${message}</small></td>
  </tr> `
}

function renderCell({ text = '', tone, atMs, detail, code }: Cell, nowMs: number): Html {
  const isTime = atMs !== undefined && Number.isFinite(atMs)
  const value = isTime
    ? html`<time datetime="${isoText(atMs)}" title="${isoText(atMs)}">${ageText(atMs - nowMs)}</time>`
    : code
      ? html`<code>${text}</code>`
      : html`${text}`
  const toned =
    tone === undefined ? html`<span>${value}</span>` : html`<span class="tone ${tone}">${mark(tone)}${value}</span>`
  return detail === undefined ? toned : html`${toned}<small>${detail}</small>`
}

/** Symbols for the tones, because some people cannot distinguish the colours. */
const marks: Record<Tone, string> = { good: '●', busy: '◐', warn: '▲', bad: '■', quiet: '' }

function mark(tone: Tone): Html | undefined {
  return marks[tone] === '' ? undefined : html`<i aria-hidden="true">${marks[tone]}</i>`
}

function isoText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
]

/** The distance of a time from now in one unit; negative is the past. Seconds would be stale before the next reload. */
export function ageText(ms: number): string {
  const size = Math.abs(ms)
  // At least two of a unit, so that 90 minutes are not "1 h".
  const unit = units.find((one) => size >= 2 * one.ms) ?? units.at(-1)
  const count = Math.floor(size / (unit?.ms ?? 1))
  if (count === 0) return 'just now'
  const text = `${count} ${unit?.name}`
  return ms < 0 ? `${text} ago` : `in ${text}`
}
