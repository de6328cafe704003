import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ageText } from '../../status-page/render.ts'
import { escapeHtml } from '../../status-page/html.ts'
import { makeModel } from '../../status-page/model.ts'
import { contentSecurityPolicy, renderPage } from '../../status-page/render.ts'
import { clear } from '../../status-page/section.ts'
import { facts, nowMs, record } from './builders.ts'

for (const [given, shown] of [
  ['plain', 'plain'],
  ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['" onload="x', '&quot; onload=&quot;x'],
  ["'&amp;", '&#39;&amp;amp;'],
  ['a\u202Eb', 'a\\u202eb'],
  ['a\u0000b\u001bc', 'a\u{fffd}b\u{fffd}c'],
  ['\u2028', '\\u2028'],
] as const) {
  test(`${JSON.stringify(given)} is shown and never interpreted`, () => assert.is(escapeHtml(given), shown))
}

test('a cell has the title of its column only where its value does not say what it is', () => {
  const block = {
    kind: 'table' as const,
    columns: [...clear('call'), 'count'],
    rows: [[{ text: 'reserve' }, { text: '2' }]],
    empty: '',
  }
  const text = renderPage([{ id: 'x', title: 'X', blocks: [block] }], nowMs)
  assert.match(text, /<th scope="col">call<\/th>\s*<th scope="col">count<\/th>/)
  assert.match(text, /<td><span>reserve<\/span><\/td>\s*<td data-label="count"><span>2<\/span><\/td>/)
})

test('a long message stands below its row, over all columns, and leaves them their width', () => {
  const [short, long] = [
    'no quota',
    'the provider tells so much about it that a column of this would squeeze all others',
  ]
  const rows = [short, long].map((detail) => [{ text: 'Requested', detail }, { text: 'da' }])
  const block = { kind: 'table' as const, columns: clear('phase', 'location'), rows, empty: '' }
  const text = renderPage([{ id: 'x', title: 'X', blocks: [block] }], nowMs)
  assert.match(text, /<td><span>Requested<\/span><small>no quota<\/small><\/td>/)
  assert.match(
    text,
    new RegExp(`</td><td><span>da</span></td>\\s*</tr>\\s*<tr class="more">\\s*<td colspan="2"><small>${long}`),
  )
  assert.is(text.match(/<tr class="more">/g)?.length, 1)
})

const hostile = '</td></table><script>alert(1)</script><img src=x onerror=alert(1)>"\''

/** A page in which every text that others decide is hostile. */
function hostilePage(): string {
  const given = facts({
    events: [{ atMs: nowMs, type: 'Warning', reason: hostile, about: hostile, message: hostile, count: 2 }],
    problems: [{ name: hostile, reason: hostile, tone: 'bad' }],
    cloud: {
      name: hostile,
      calls: [{ call: hostile, count: 1, failed: 1, failedAtMs: nowMs, fault: hostile }],
      lastSuccessAtMs: undefined,
      locations: 0,
    },
    addresses: {
      records: [record({ name: hostile, address: hostile, phase: 'Requested', message: hostile, minutes: 30 })],
      service: () => undefined,
      limits: { cluster: 1, namespace: 1 },
    },
    leader: { isHere: false, identity: hostile },
  })
  return renderPage(makeModel(given, nowMs), nowMs)
}

test('names, Events and errors of the provider add no element and no attribute to the page', () => {
  const page = hostilePage()
  assert.ok(page.includes('&lt;/td&gt;'))
  assert.not.match(page, /<img|onerror=alert\(1\)>(?!&)|<script/)
  assert.is(page.match(/<td/g)?.length, page.match(/<\/td>/g)?.length)
})

test('the policy permits our style by its hash, no script, and nothing from elsewhere', () => {
  const page = hostilePage()
  const [, text = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? []
  const hash = createHash('sha256').update(text).digest('base64')
  assert.ok(contentSecurityPolicy.includes(`style-src 'sha256-${hash}'`))
  assert.match(contentSecurityPolicy, "default-src 'none'")
  assert.not.match(page, /\bstyle="|\bon[a-z]+="|https?:\/\//)
})

test('a browser loads the page again every few seconds, without a script', () => {
  assert.match(renderPage(makeModel(facts(), nowMs), nowMs), '<meta http-equiv="refresh" content="5" />')
})

for (const [ms, text] of [
  [0, 'just now'],
  [-59_000, 'just now'],
  [-61_000, '1 min ago'],
  [-119 * 60_000, '119 min ago'],
  [-120 * 60_000, '2 h ago'],
  [-50 * 3_600_000, '2 d ago'],
  [49 * 3_600_000, 'in 2 d'],
] as const) {
  test(`${ms} ms is ${text}`, () => assert.is(ageText(ms), text))
}

test('a time that nobody can read is left out', () => {
  const broken = { ...record({}), metadata: { name: 'x', creationTimestamp: 'soon' } }
  const given = facts({
    addresses: { records: [broken], service: () => undefined, limits: { cluster: 1, namespace: 1 } },
  })
  assert.not.match(renderPage(makeModel(given, nowMs), nowMs), /NaN|Invalid/)
})

test.run()
