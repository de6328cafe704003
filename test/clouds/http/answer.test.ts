import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { callQuota, readResponse, retryAfterMs } from '../../../clouds/http/answer.ts'

const bodyOf = async (response: Response) => (await readResponse(response)).body

const now = Date.UTC(2026, 0, 31, 9, 0, 0)
const inSeconds = (seconds: number) => now / 1000 + seconds
const waits: { name: string; headers: Record<string, string>; ms: number | undefined }[] = [
  { name: 'Retry-After in seconds', headers: { 'retry-after': '7' }, ms: 7000 },
  { name: 'Retry-After as a date', headers: { 'retry-after': 'Sat, 31 Jan 2026 09:00:30 GMT' }, ms: 30_000 },
  { name: 'a Retry-After of no time', headers: { 'retry-after': '0' }, ms: undefined },
  { name: 'a Retry-After in the past', headers: { 'retry-after': 'Sat, 31 Jan 2026 08:00:00 GMT' }, ms: undefined },
  { name: 'a Retry-After of nonsense', headers: { 'retry-after': 'soon' }, ms: undefined },
  { name: 'X-RateLimit-Reset', headers: { 'x-ratelimit-reset': String(inSeconds(12)) }, ms: 12_000 },
  { name: 'RateLimit-Reset', headers: { 'ratelimit-reset': String(inSeconds(3)) }, ms: 3000 },
  {
    name: 'Retry-After before X-RateLimit-Reset',
    headers: { 'retry-after': '2', 'x-ratelimit-reset': String(inSeconds(60)) },
    ms: 2000,
  },
  {
    name: "the reset on the provider's own clock",
    headers: { 'x-ratelimit-reset': String(inSeconds(3605)), date: 'Sat, 31 Jan 2026 10:00:00 GMT' },
    ms: 5000,
  },
  { name: 'no header at all', headers: {}, ms: undefined },
]
for (const { name, headers, ms } of waits)
  test(`the wait is read from ${name}`, () =>
    assert.is(retryAfterMs(new Headers(headers), { localNow: now, resetIsWait: true }), ms))

const limit = (calls: number) => ({ 'ratelimit-limit': String(calls) })
const full = (second: number) => ({ 'ratelimit-reset': String(second) })
const left = (calls: number) => ({ 'ratelimit-remaining': String(calls) })
const quotas = [
  { name: 'none is left', headers: { ...limit(3600), ...left(0), ...full(inSeconds(3600)) }, paceMs: 1000 },
  { name: 'half is left', headers: { ...limit(3600), ...left(1800), ...full(inSeconds(1800)) }, paceMs: 1000 },
  { name: 'all are left', headers: { ...limit(3600), ...left(3600), ...full(inSeconds(0)) }, paceMs: undefined },
  { name: 'the end is near', headers: { ...limit(10), ...left(0), ...full(inSeconds(9)) }, paceMs: undefined },
  { name: 'the end is not named', headers: { ...limit(3600), ...left(0) }, paceMs: undefined },
]
for (const { name, headers, paceMs } of quotas)
  test(`the pace of a cloud that allows one call after the other is read where ${name}`, () => {
    const of = (resetIsWait: boolean) => callQuota(new Headers(headers), { localNow: now, resetIsWait })
    assert.is(of(false)?.paceMs, paceMs)
    assert.is(of(true)?.paceMs, undefined, 'a window that ends all at once has none')
  })

test('a cloud that names no limit has no quota', () => {
  assert.is(callQuota(new Headers(left(3)), { localNow: now, resetIsWait: false }), undefined)
})

test('a body of more than 8 MiB is left where it is', async () => {
  const body = await bodyOf(new Response(`"${'x'.repeat(8 * 1024 * 1024)}"`))
  assert.equal(body, { kind: 'foreign', what: 'more than 8 MiB' })
})

test('a body just below the bound is read', async () => {
  const body = await bodyOf(new Response(`"${'x'.repeat(8 * 1024 * 1024 - 2)}"`))
  assert.is(body.kind, 'json')
})

test('characters that are split between chunks are read whole', async () => {
  const bytes = new TextEncoder().encode('{"name":"São Paulo"}')
  const stream = ReadableStream.from([bytes.slice(0, 11), bytes.slice(11)])
  assert.equal(await bodyOf(new Response(stream)), { kind: 'json', value: { name: 'São Paulo' } })
})

const bodies = [
  { name: 'blanks are no body', text: ' \n', headers: {}, body: { kind: 'none' } },
  {
    name: 'a page is named by its type',
    text: '<html>',
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: { kind: 'foreign', what: 'text/html' },
  },
] as const
for (const { name, text, headers, body } of bodies)
  test(name, async () => assert.equal(await bodyOf(new Response(text, { headers })), body))

test.run()
