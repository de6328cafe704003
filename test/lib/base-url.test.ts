import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type PlainHttp, parseBaseUrl } from '../../lib/base-url.ts'

const cases: [text: string, plainHttp: PlainHttp, is: string | RegExp][] = [
  ['https://api.example.com/v1//', 'never', 'https://api.example.com/v1'],
  ['http://127.0.0.1/', 'loopback', 'http://127.0.0.1'],
  ['http://10.0.0.1', 'anywhere', 'http://10.0.0.1'],
  ['http://127.0.0.1', 'never', /not an https/],
  ['http://10.0.0.1', 'loopback', /not an https.*loopback/],
  ['ftp://10.0.0.1', 'anywhere', /neither/],
  ['https://me@example.com', 'never', /login/],
  ['https://example.com?', 'never', /query/],
  ['https://example.com/#', 'never', /fragment/],
  ['example.com', 'never', /not a URL/],
]
for (const [text, plainHttp, is] of cases)
  test(`${text} with plain http ${plainHttp}: ${String(is)}`, () => {
    const parsed = parseBaseUrl(text, plainHttp)
    if (is instanceof RegExp) assert.match('problem' in parsed ? parsed.problem : '', is)
    else assert.equal(parsed, { url: is })
  })

test.run()
