import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { requireBaseUrl } from '../../../clouds/http/client.ts'

const good = [
  { url: 'https://api.example.com/metal/v1', base: 'https://api.example.com/metal/v1' },
  { url: 'https://api.example.com/', base: 'https://api.example.com' },
  { url: 'http://127.0.0.1:8080/v1/', base: 'http://127.0.0.1:8080/v1' },
  { url: 'http://127.9.9.9', base: 'http://127.9.9.9' },
  { url: 'http://localhost:3000', base: 'http://localhost:3000' },
  { url: 'http://[::1]:3000', base: 'http://[::1]:3000' },
]
for (const { url, base } of good)
  test(`the base URL ${url} is taken`, () => assert.is(requireBaseUrl('Example', url), base))

const bad = [
  { url: 'api.example.com/v1', reason: 'is not a URL' },
  { url: '', reason: 'is not a URL' },
  {
    url: 'http://api.example.com/v1',
    reason: 'is not an https:// URL; http:// is possible only to a loopback address',
  },
  {
    url: 'http://127.0.0.1.example.com',
    reason: 'is not an https:// URL; http:// is possible only to a loopback address',
  },
  {
    url: 'http://localhost.example.com',
    reason: 'is not an https:// URL; http:// is possible only to a loopback address',
  },
  { url: 'http://10.0.0.1', reason: 'is not an https:// URL; http:// is possible only to a loopback address' },
  { url: 'ftp://127.0.0.1', reason: 'is not an https:// URL; http:// is possible only to a loopback address' },
  { url: 'https://api.example.com/v1?key=1', reason: 'contains a query' },
  { url: 'https://api.example.com/v1#top', reason: 'contains a query or a fragment' },
]
for (const { url, reason } of bad)
  test(`the base URL "${url}" is refused because it ${reason}`, () =>
    assert.throws(
      () => requireBaseUrl('Example', url),
      new RegExp(`Example: base URL ".*" ${reason}.*; expected one like`),
    ))

for (const url of ['https://me:hush@api.example.com', 'https://me:hush@[broken', 'me:hush@api.example.com'])
  test(`a login in a base URL is refused and not repeated (${url.length})`, () => {
    assert.throws(
      () => requireBaseUrl('Example', url),
      (error: Error) => !error.message.includes('hush'),
    )
  })

test.run()
