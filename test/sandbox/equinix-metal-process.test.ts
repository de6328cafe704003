import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { project } from './metal-fixture.ts'

const program = new URL('../../sandbox/clouds/equinix-metal/main.ts', import.meta.url).pathname

function run(...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  return { child, said, ended: once(child, 'close') as Promise<[number | null]> }
}

test('as a process of its own it prints one line of JSON, serves, and ends on SIGTERM while a call hangs', async () => {
  const tokens = ['--token', 'full', '--read-only-token', 'reader', '--foreign-token', 'stranger']
  const { child, said, ended } = run('--port', '0', '--project', project, ...tokens, '--device', 'worker-1@sv')
  try {
    while (!said.out.includes('\n')) await once(child.stdout, 'data')
    const { url, controlUrl, projects } = JSON.parse(said.out) as Record<'url' | 'controlUrl', string> & {
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
  test(`${args.join(' ')} does not start`, async () => {
    const { said, ended } = run(...args)
    assert.is((await ended)[0], 1)
    assert.match(said.err, says)
    assert.is(said.out, '')
  })

test('--help tells the options', async () => {
  const { said, ended } = run('--help')
  assert.is((await ended)[0], 0)
  assert.match(said.out, '--foreign-token')
})

test.run()
