import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Caller, pageAccess } from '../../status-page/access.ts'
import { failedLogins } from '../../status-page/access.ts'
import { readToken, tokenCheck } from '../../settings/token-file.ts'
import { recordedLog } from '../kube/recorded-log.ts'

const token = 'right-0123456789abcdef'
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const withToken = () => pageAccess({ isToken: (given) => given === token, now: () => 0 })
const statusOf = (access: ReturnType<typeof pageAccess>, headers: Caller['headers'], remoteAddress = '192.0.2.1') =>
  access({ headers, remoteAddress })?.status

for (const { name, authorization, status } of [
  { name: 'none', authorization: undefined, status: 401 },
  { name: 'a bearer token', authorization: `Bearer ${token}`, status: undefined },
  { name: 'a bearer token in lower case', authorization: `bearer ${token}`, status: undefined },
  { name: 'the password of any user', authorization: basic('me', token), status: undefined },
  { name: 'the password of no user', authorization: basic('', token), status: undefined },
  { name: 'a wrong token', authorization: `Bearer ${token}x`, status: 401 },
  { name: 'the token as the user', authorization: basic(token, ''), status: 401 },
  { name: 'another scheme', authorization: `Digest ${token}`, status: 401 },
  { name: 'nonsense', authorization: 'Basic %%%', status: 401 },
  { name: 'an empty one', authorization: '', status: 401 },
]) {
  test(`authorization with ${name}: ${status ?? 'accepted'}`, () =>
    assert.is(statusOf(withToken(), { authorization, host: 'anything' }), status))
}

for (const { host, status } of [
  { host: 'localhost:10261', status: undefined },
  { host: '127.0.0.1:8080', status: undefined },
  { host: '[::1]:10261', status: undefined },
  { host: 'LOCALHOST', status: undefined },
  { host: 'evil.example', status: 403 },
  { host: 'localhost.evil.example', status: 403 },
  { host: '127.0.0.1.evil.example:80', status: 403 },
  { host: '10.0.0.1:10261', status: 403 },
  { host: undefined, status: 403 },
]) {
  test(`without a token, the name ${host}: ${status ?? 'accepted'}`, () =>
    assert.is(statusOf(pageAccess({ isToken: undefined, now: () => 0 }), { host }), status))
}

test('a caller with many wrong tokens must wait, and nobody else', () => {
  let nowMs = 0
  const access = pageAccess({ isToken: (given) => given === token, now: () => nowMs })
  const wrong = { authorization: 'Bearer wrong' }
  const right = { authorization: `Bearer ${token}` }
  assert.equal(
    Array.from({ length: 12 }, () => statusOf(access, wrong)),
    [...Array.from({ length: 10 }, () => 401), 429, 429],
  )
  // A guess that would be right tells nothing either.
  assert.is(statusOf(access, right), 429)
  assert.is(statusOf(access, right, '192.0.2.2'), undefined)
  nowMs = 7_000
  assert.is(statusOf(access, right), undefined)
})

test('the memory of failures does not grow with the number of callers', () => {
  const failed = failedLogins(() => 0)
  for (let tries = 0; tries < 10; tries += 1) failed.add('first')
  assert.ok(failed.mustWait('first'))
  for (let caller = 0; caller < 1_000; caller += 1) failed.add(`other ${caller}`)
  assert.not(failed.mustWait('first'))
})

const folder = mkdtempSync(join(tmpdir(), 'eip-admission-token-'))
const file = join(folder, 'token')

for (const { text, wrong } of [
  { text: `${token}\n`, wrong: undefined },
  { text: 'short', wrong: 'holds fewer than 16 characters' },
  { text: '', wrong: 'holds fewer than 16 characters' },
  { text: `${token}\n${token}`, wrong: 'holds more than one line of printable ASCII without blanks' },
]) {
  test(`a file with ${JSON.stringify(text)} ${wrong ?? 'is right'}`, () => {
    writeFileSync(file, text)
    assert.is(readToken(file).wrong, wrong)
  })
}

test('a changed token counts within seconds, and a damaged file changes nothing', () => {
  let nowMs = 0
  writeFileSync(file, token)
  const log = recordedLog()
  const isToken = tokenCheck({ path: file, log, now: () => nowMs })
  assert.ok(isToken(token))
  assert.not(isToken(`${token}x`))
  writeFileSync(file, 'another-0123456789')
  nowMs = 3_001
  assert.ok(isToken('another-0123456789'))
  assert.not(isToken(token))
  rmSync(file)
  nowMs = 6_002
  assert.ok(isToken('another-0123456789'))
  assert.match(JSON.stringify(log.lines), 'does not exist')
  assert.not.match(JSON.stringify(log.lines), '0123456789')
})

test.after(() => rmSync(folder, { recursive: true }))

test.run()
