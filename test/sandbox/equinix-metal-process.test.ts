import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { project } from './metal-fixture.ts'
import { runProgram } from './run-program.ts'

const run = (...args: string[]) => runProgram('equinix-metal', args)

test('the program prints one line of JSON, serves the API, and ends on SIGTERM while a call hangs', async () => {
  const tokens = ['--token', 'full', '--read-only-token', 'reader', '--foreign-token', 'stranger']
  const { child, output, ended } = run('--port', '0', '--project', project, ...tokens, '--device', 'worker-1@sv')
  try {
    while (!output.stdout.includes('\n')) await once(child.stdout, 'data')
    const { url, controlUrl, projects } = JSON.parse(output.stdout) as Record<'url' | 'controlUrl', string> & {
      projects: string[]
    }
    assert.equal(projects, [project])

    const list = async (token: string) =>
      await fetch(`${url}/projects/${project}/devices`, { headers: { 'x-auth-token': token } })
    const { devices } = (await (await list('full')).json()) as {
      devices: { hostname: string; metro: { code: string } }[]
    }
    assert.equal(
      devices.map(({ hostname, metro }) => [hostname, metro.code]),
      [['worker-1', 'sv']],
    )
    assert.is((await list('reader')).status, 200)
    assert.is((await list('stranger')).status, 403)

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
  { args: ['--unknown', 'listOrder=random'], says: /expected one of newest-first, oldest-first/ },
  { args: ['--device', 'worker-1@zz'], says: /no metro "zz"/ },
  { args: ['--prot', '1'], says: /--prot/ },
]

for (const { args, says } of mistakes)
  test(`the program does not start with ${args.join(' ')}`, async () => {
    const { output, ended } = run(...args)
    assert.is((await ended)[0], 1)
    assert.match(output.stderr, says)
    assert.is(output.stdout, '')
  })

test('--help lists the options', async () => {
  const { output, ended } = run('--help')
  assert.is((await ended)[0], 0)
  assert.match(output.stdout, '--foreign-token')
})

test.run()
