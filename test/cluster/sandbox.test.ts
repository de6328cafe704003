// `make sandbox NODES=3`, whose printed commands are typed: Cherry Servers, MetalLB as pods, and BIRD as the routers.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { measured } from './booted.ts'

const root = join(import.meta.dirname, '../..')
let printed = ''
const startedMs = performance.now()
const command = [process.execPath, join(root, 'sandbox/cluster/sandbox.ts')]
// It stops in order also when this process is killed.
const sandbox = spawn('/usr/bin/setpriv', ['--pdeathsig', 'TERM', '--', ...command], { cwd: root })
for (const stream of [sandbox.stdout, sandbox.stderr])
  stream.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
const ended = once(sandbox, 'close') as Promise<[number | null]>
test.after(async () => {
  sandbox.kill('SIGTERM')
  await ended
})

/** The printed command that has these words. */
const printedLine = (words: string) =>
  printed.split('\n').find((line) => line.startsWith('  ') && line.includes(words)) ?? ''

/** Types a printed command in another terminal, which has typed the `export` lines. */
function type(words: string): string {
  const script = ['export KUBECONFIG', 'export PATH', words].map(printedLine).join('\n')
  return execFileSync('sh', ['-c', script], { cwd: root, encoding: 'utf8' }).trim()
}

/** Types a printed command in the terminal of the sandbox. */
async function typeInside(words: string, answer: string): Promise<void> {
  sandbox.stdin.write(`${printedLine(words).trim()}\n`)
  await eventually(`it answers ${answer}`, () => printed.includes(answer) || undefined)
}

test('it prints what to type', async () => {
  await eventually(
    'the sandbox is ready',
    (observe) => {
      observe(printed)
      if (sandbox.exitCode !== null) throw new Error(printed)
      return printed.includes('Press Ctrl-C') || undefined
    },
    120_000,
  )
})

test('a client outside is answered by a pod, over routes that MetalLB announced to BIRD', async () => {
  const address = type('kubectl expose')
  assert.match(address, /^\d+\.\d+\.\d+\.\d+$/)
  assert.match(type('client curl'), /^web-/)
  measured(`the first answer came after ${Math.round((performance.now() - startedMs) / 1000)} s`)
  assert.match(type('kubectl get pods'), /metallb-system +speaker-\S+ +1\/1/)
  // The simulated cloud shows the sessions of the real routers, as the vendor's own routers do.
  await eventually('doctor finds nothing wrong', (observe) => {
    const report = type('doctor')
    observe(report)
    return /^0 errors, 0 warnings/m.test(report) || undefined
  })
})

test('an address is answered while a node is off, and the node comes back', async () => {
  await typeInside('off worker-1', 'worker-1 is off')
  assert.match(type('client curl'), /^web-/)
  await typeInside('on worker-1', 'worker-1 is on')
  assert.match(type('client curl'), /^web-/)
})

test('Ctrl-C leaves no process, no mount, no control group and no file', async () => {
  const dir = /PATH=(\S+)\/bin:/.exec(printedLine('export PATH'))?.[1] ?? ''
  assert.ok(existsSync(dir))
  assert.ok(processesOf(dir).length > 10)
  const groups = () => globSync(`/sys/fs/cgroup/*/${basename(dir)}-*`)
  assert.ok(groups().length > 3)
  sandbox.kill('SIGINT')
  assert.equal(await ended, [0, null])
  assert.equal(processesOf(dir), [])
  assert.equal(groups(), [])
  assert.not.ok(existsSync(dir))
})

/** The processes that name this folder in their command line or have a mount below it. */
function processesOf(dir: string): string[] {
  return globSync('/proc/[0-9]*').filter((process) =>
    ['cmdline', 'mountinfo'].some((file) => {
      try {
        return readFileSync(join(process, file), 'utf8').includes(dir)
      } catch {
        // It has ended.
        return false
      }
    }),
  )
}

test.run()
