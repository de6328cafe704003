import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSettings } from '../../settings/resolve.ts'
import { statusPageProblems, statusPageSettings } from '../../settings/status-page.ts'

for (const { given, address } of [
  { given: '127.0.0.1:10261', address: { host: '127.0.0.1', port: 10_261 } },
  { given: '127.8.0.1:1', address: { host: '127.8.0.1', port: 1 } },
  { given: '[::1]:10261', address: { host: '::1', port: 10_261 } },
  { given: '0.0.0.0:10261', address: undefined },
  { given: '[::]:10261', address: undefined },
  { given: '192.0.2.1:10261', address: undefined },
  { given: '[::ffff:10.0.0.1]:10261', address: undefined },
  { given: 'localhost:10261', address: undefined },
  { given: '127.0.0.1', address: undefined },
  { given: '127.0.0.1:0', address: undefined },
  { given: '127.0.0.1:65536', address: undefined },
  { given: '127.evil:1', address: undefined },
]) {
  test(`--status-page-address=${given} ${address ? 'is a loopback address' : 'is refused'}`, () => {
    const { values, problems } = readSettings(statusPageSettings, {
      flags: { '--status-page-address': given },
      env: {},
    })
    assert.equal(values?.statusPageAddress, address)
    assert.is(problems.length, address ? 0 : 1)
  })
}

test('a token file that cannot be used is a problem, which does not show the token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eip-admission-token-'))
  const file = join(folder, 'token')
  const problems = () => statusPageProblems({ flags: { '--status-page-token-file': file }, env: {} })
  try {
    assert.match(problems()[0]?.wrong ?? '', 'does not exist')
    writeFileSync(file, 'too-short')
    assert.match(problems()[0]?.wrong ?? '', 'fewer than 16')
    assert.not.match(JSON.stringify(problems()), 'too-short')
    writeFileSync(file, 'long-enough-0123456789')
    assert.equal(problems(), [])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
