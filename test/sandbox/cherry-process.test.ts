import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { project } from './cherry-fixture.ts'
import { runProgram } from './run-program.ts'

const run = (...args: string[]) => runProgram('cherry-servers', args)

test('the program prints one line of JSON, serves the API, and ends on SIGTERM while a call hangs', async () => {
  const tokens = ['--token', 'full', '--read-only-token', 'reader', '--foreign-token', 'stranger']
  const { child, output, ended } = run(...tokens, '--device', 'worker-1@NL-Amsterdam', '--call-limit', '4')
  try {
    while (!output.stdout.includes('\n')) await once(child.stdout, 'data')
    const { url, controlUrl, projects } = JSON.parse(output.stdout) as Record<'url' | 'controlUrl', string> & {
      projects: number[]
    }
    assert.equal(projects, [project])
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/)

    const list = async (token: string) =>
      await fetch(`${url}/projects/${project}/servers`, { headers: { authorization: `Bearer ${token}` } })
    const servers = (await (await list('full')).json()) as { hostname: string; region: { slug: string } }[]
    assert.equal(
      servers.map(({ hostname, region }) => [hostname, region.slug]),
      [['worker-1', 'NL-Amsterdam']],
    )
    const statuses = [(await list('reader')).status, (await list('stranger')).status]
    assert.equal(statuses, [200, 403])

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
  { args: ['--project', 'edge-prod'], says: /--project edge-prod: expected a whole number/ },
  { args: ['--call-limit', 'few'], says: /--call-limit few: expected a whole number/ },
  { args: ['--unknown', 'listOrder=random'], says: /expected one of oldest-first, newest-first/ },
  { args: ['--device', 'worker-1@EU-Nord-1'], says: /no region "EU-Nord-1"/ },
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
  assert.match(output.stdout, '--call-limit')
})

test.run()
