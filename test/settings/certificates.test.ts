import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { certificatesProblems } from '../../settings/certificates.ts'

const cases: { name: string; flags: Record<string, string>; problem?: RegExp }[] = [
  { name: 'no setting', flags: {} },
  { name: 'a folder, even without files', flags: { '--webhook-cert-dir': import.meta.dirname } },
  {
    name: 'a folder that does not exist',
    flags: { '--webhook-cert-dir': '/nowhere' },
    problem: /^\/nowhere is no folder/,
  },
  { name: 'a file', flags: { '--webhook-cert-dir': import.meta.filename }, problem: /is no folder/ },
  {
    name: 'lifetimes that do not fit, where nobody uses them',
    flags: {
      '--webhook-cert-dir': import.meta.dirname,
      '--webhook-ca-lifetime': '2h',
      '--webhook-cert-lifetime': '1h',
    },
  },
  {
    name: 'lifetimes that do not fit',
    flags: { '--webhook-ca-lifetime': '2h', '--webhook-cert-lifetime': '1h' },
    problem: /less than three times/,
  },
]

for (const { name, flags, problem } of cases)
  test(`the certificates of the webhooks: ${name}`, () => {
    const problems = certificatesProblems({ flags, env: {} }).map(({ source, wrong }) => `${source ?? ''} ${wrong}`)
    if (!problem) return assert.equal(problems, [])
    assert.is(problems.length, 1)
    assert.match(problems[0] ?? '', problem)
  })

test.run()
