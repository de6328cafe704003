import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { project } from './cherry-fixture.ts'

const program = new URL('../../sandbox/clouds/cherry-servers/main.ts', import.meta.url).pathname

function run(...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  return { child, said, ended: once(child, 'close') as Promise<[number | null]> }
}

test('as a process of its own it prints one line of JSON, serves, and ends on SIGTERM while a call hangs', async () => {
  const tokens = ['--token', 'full', '--read-only-token', 'reader', '--foreign-token', 'stranger']
  const { child, said, ended } = run(...tokens, '--device', 'worker-1@NL-Amsterdam', '--call-limit', '4')
  try {
    while (!said.out.includes('\n')) await once(child.stdout, 'data')
    const { url, controlUrl, projects } = JSON.parse(said.out) as Record<'url' | 'controlUrl', string> & {
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
  test(`${args.join(' ')} does not start`, async () => {
    const { said, ended } = run(...args)
    assert.is((await ended)[0], 1)
    assert.match(said.err, says)
    assert.is(said.out, '')
  })

test('--help tells the options', async () => {
  const { said, ended } = run('--help')
  assert.is((await ended)[0], 0)
  assert.match(said.out, '--call-limit')
})

test.run()
