import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubernetesVersion } from '../../sandbox/control-plane/build.ts'
import { openNameServer } from '../../sandbox/e2e/dns.ts'
import { type Result, problemsOf, resultOf } from '../../sandbox/e2e/judge.ts'
import { cannotRunHere, tests } from '../../sandbox/e2e/tests.ts'

const expected = {
  tests: ['should work from pods', 'should work with hardware'],
  cannotRunHere: { 'should work with hardware': 'there is none' },
}
const result = (name: string, state: string): Result => ({ name: `[sig-network] ${name} [Slow]`, state, seconds: 1 })
const good = [result('should work from pods', 'passed'), result('should work with hardware', 'failed')]

test('the line of a result is read, and no other', () => {
  assert.equal(resultOf('RESULT timedout 61 [sig-network] should work from pods [Slow]'), {
    name: '[sig-network] should work from pods [Slow]',
    state: 'timedout',
    seconds: 61,
  })
  assert.is(resultOf('STEP: RESULT passed'), undefined)
})

for (const [name, results, problems] of [
  ['all is as expected', good, []],
  ['a test failed', [result('should work from pods', 'failed'), ...good.slice(1)], ['failed: should work from pods']],
  [
    'a test was skipped',
    [result('should work from pods', 'skipped'), ...good.slice(1)],
    ['skipped: should work from pods'],
  ],
  ['a test did not run', good.slice(1), ['did not run: should work from pods']],
  [
    'a test passed that cannot run here',
    [...good.slice(0, 1), result('should work with hardware', 'passed')],
    ['passed, but is listed as one that cannot run here: should work with hardware'],
  ],
  [
    'a test is in no list',
    [...good, result('should be new', 'passed')],
    ['passed, but is in no list: [sig-network] should be new [Slow]'],
  ],
] as const)
  test(`the results are judged: ${name}`, () => assert.equal(problemsOf([...results], expected), problems))

test('docs/reference/support.md has the version and the result of each test', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference/support.md'), 'utf8')
  const [, section = ''] = text.split("## Kubernetes' own tests")
  const rows = [...section.matchAll(/^\| (should .+?) +\| (\w+)/gm)].map(
    ([, name = '', state = '']) => `${name}: ${state}`,
  )
  const expectedRows = tests.map((name) => `${name}: ${name in cannotRunHere ? 'fails' : 'passes'}`)
  assert.equal(rows.toSorted(), expectedRows.toSorted())
  assert.ok(section.includes(`Kubernetes ${kubernetesVersion.slice(1)}`))
})

test('a resolver learns the address of a name, that another one does not exist, and that there is no IPv6', async () => {
  const known = async (name: string) => (name === 'web.default.svc.cluster.local' ? '10.96.0.20' : undefined)
  const socket = await openNameServer(known, { port: 0, address: '127.0.0.1' })
  const resolver = new Resolver({ timeout: 2_000 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  const codeOf = (error: NodeJS.ErrnoException) => error.code
  try {
    assert.equal(await resolver.resolve4('web.default.svc.cluster.local'), ['10.96.0.20'])
    assert.is(await resolver.resolve4('other.default.svc.cluster.local').catch(codeOf), 'ENOTFOUND')
    assert.is(await resolver.resolve6('web.default.svc.cluster.local').catch(codeOf), 'ENODATA')
  } finally {
    socket.close()
  }
})

test.run()
