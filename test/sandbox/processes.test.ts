// The simulated clouds as programs of their own.
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { vendors } from './contract.ts'
import { runProgram } from './run-program.ts'

for (const { name, program, project, machines, header, place } of vendors) {
  test(`${name}: the program prints one line of JSON, serves the API, and ends on SIGTERM while a call hangs`, async () => {
    const tokens = ['--token', 'full', '--read-only-token', 'reader', '--foreign-token', 'stranger']
    const args = ['--port', '0', '--project', project, ...tokens, '--device', place.is]
    const { child, output, ended } = runProgram(program, args)
    try {
      while (!output.stdout.includes('\n')) await once(child.stdout, 'data')
      const { url, controlUrl, projects } = JSON.parse(output.stdout) as Record<'url' | 'controlUrl', string> & {
        projects: unknown[]
      }
      assert.equal(projects.map(String), [project])
      const list = (token: string) => fetch(`${url}${machines}`, { headers: header(token) })
      assert.match(await (await list('full')).text(), '"worker-1"')
      assert.equal([(await list('reader')).status, (await list('stranger')).status], [200, 403])
      await fetch(`${controlUrl}/faults`, { method: 'POST', body: '{"answer":"hang"}' })
      const hanging = list('full').catch(() => 'cut')
      child.kill('SIGTERM')
      assert.is((await ended)[0], 0)
      assert.is(await hanging, 'cut')
    } finally {
      child.kill('SIGKILL')
    }
  })

  const mistakes = [
    { args: ['--quota', 'many'], says: /--quota many: expected a whole number/ },
    { args: ['--device', place.isNot], says: place.says },
  ]
  test(`${name}: the program explains a wrong argument and does not start, and --help lists the options`, async () => {
    const starts = [...mistakes.map(({ args }) => args), ['--help']].map((args) => runProgram(program, args))
    const codes = await Promise.all(starts.map(async ({ ended }) => (await ended)[0]))
    assert.equal(codes, [1, 1, 0])
    for (const [n, { says }] of mistakes.entries()) {
      assert.match(starts[n]?.output.stderr ?? '', says)
      assert.is(starts[n]?.output.stdout, '')
    }
    assert.match(starts.at(-1)?.output.stdout ?? '', '--foreign-token')
  })
}

test.run()
