// Two processes that need the same program: one builds it, and the other waits, also when the first is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { exclusively } from '../../sandbox/exclusive.ts'

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-lock-'))
const children = new Set<ChildProcess>()

/** Starts a program beside this file, and collects what it prints. */
function start(program: string, argument: string, env = process.env) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'exclusive', program), argument], { env })
  children.add(child)
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output.text += text))
  return { child, output, ended: once(child, 'close') as Promise<[number | null]> }
}

/** Another process that has the lock. */
async function holder(name: string) {
  const started = start('hold.ts', name)
  await once(started.child.stdout, 'data')
  return started.child
}

test('who waits knows the process that has the lock, and gets it when that one is killed', async () => {
  const child = await holder(`${dir}/killed`)
  const holders: string[] = []
  const done: string[] = []
  const work = exclusively(
    `${dir}/killed`,
    async () => {
      done.push('mine')
    },
    {
      onWait: (pid) => {
        holders.push(pid)
        assert.equal(done, [])
        child.kill('SIGKILL')
      },
    },
  )
  await work
  assert.equal([holders, done], [[String(child.pid)], ['mine']])
})

test('many who wait have it one after the other, also after work that fails', async () => {
  let inside = 0
  const most: number[] = []
  const work = async (n: number) => {
    inside += 1
    most.push(inside)
    await new Promise((resolve) => setTimeout(resolve, 5))
    inside -= 1
    if (n % 3 === 0) throw new Error('failed')
    return n
  }
  const all = Array.from({ length: 20 }, (_, n) => exclusively(`${dir}/many`, () => work(n)))
  const results = await Promise.allSettled(all)
  assert.equal(Math.max(...most), 1)
  assert.is(results.filter(({ status }) => status === 'fulfilled').length, 13)
})

test('who waits can give up, and another name is another lock', async () => {
  const child = await holder(`${dir}/kept`)
  const abort = new AbortController()
  const waiting = exclusively(`${dir}/kept`, async () => 'never', {
    signal: abort.signal,
    onWait: () => abort.abort(new Error('enough')),
  })
  const [{ reason } = { reason: undefined }] = (await Promise.allSettled([waiting])) as PromiseRejectedResult[]
  assert.match(String(reason), 'enough')
  assert.is(await exclusively(`${dir}/other`, async () => 'at once'), 'at once')
  child.stdin?.end()
})

test('of two builds of one program one waits for the other, and prints that it waits', async () => {
  writeFileSync(join(dir, 'go.mod'), 'module example.com/tool\n\ngo 1.19\n')
  writeFileSync(join(dir, 'go.sum'), '')
  writeFileSync(join(dir, 'main.go'), 'package main\n\nfunc main() { println("built") }\n')
  const env = {
    ...process.env,
    XDG_CACHE_HOME: join(dir, 'cache'),
    GOCACHE: process.env['GOCACHE'] ?? join(homedir(), '.cache', 'go-build'),
  }
  const builds = [start('build.ts', dir, env), start('build.ts', dir, env)]
  const codes = await Promise.all(builds.map(async ({ ended }) => (await ended)[0]))
  const texts = builds.map(({ output }) => output.text)
  assert.equal(codes, [0, 0], texts.join('\n'))
  const folders = texts.map((text) => text.trimEnd().split('\n').at(-1) ?? '')
  assert.is(folders[0], folders[1])
  assert.ok(readFileSync(join(folders[0] ?? '', 'tool')).length > 0)
  assert.is(texts.filter((text) => text.includes('Building tool v1')).length, 1, texts.join('\n'))
  const [builder] = builds.filter(({ output }) => output.text.includes('Building tool v1'))
  const other = builds.find((one) => one !== builder)
  // A process that came when all was built says nothing.
  if (other && other.output.text !== `${folders[0]}\n`)
    assert.match(other.output.text, `Process ${builder?.child.pid} builds tool v1; waiting for it`)
})

test.after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

test.run()
