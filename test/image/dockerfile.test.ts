// The Dockerfile's own steps, read from it, in the Debian that is its base.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { archive } from '../../packaging/image.ts'
import { assembleRootfs, ownArchitecture } from '../../packaging/rootfs.ts'
import { debianBase } from '../../sandbox/rig/debian-base.ts'

const root = join(import.meta.dirname, '../..')
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-dockerfile-'))
test.after(() => rmSync(dir, { recursive: true, force: true }))
const system = join(dir, 'system')
const authorities = '/etc/ssl/certs/ca-certificates.crt'
const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/root', NODE_EXTRA_CA_CERTS: authorities }

/** The instructions of the Dockerfile, and those of its first stage and its last. */
const instructions = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line))
  .map((line): [name: string, rest: string] => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)])
const [first = -1, last = -1] = instructions.flatMap(([name], at) => (name === 'FROM' ? [at] : []))
const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')

/** Makes the system of the base: Debian, Node and npm. The registries of this machine may have an authority of their own. */
async function makeSystem(): Promise<void> {
  execFileSync('cp', ['-a', await debianBase(), system])
  cpSync(process.execPath, join(system, 'usr/local/bin/node'))
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())
  mkdirSync(join(system, 'usr/local/lib/node_modules'), { recursive: true })
  cpSync(dirname(dirname(npm)), join(system, 'usr/local/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(system, 'usr/local/bin/npm'))
  cpSync(authorities, join(system, authorities))
  cpSync('/etc/resolv.conf', join(system, 'etc/resolv.conf'))
}

/** Copies files of the context, as COPY does. */
function copyInto(workdir: string, rest: string): void {
  const paths = rest.split(' ')
  const to = join(system, resolve(workdir, paths.pop() ?? ''))
  const filter = (path: string) => !ignored.includes(relative(root, path))
  for (const path of paths) cpSync(join(root, path), path === '.' ? to : join(to, path), { recursive: true, filter })
}

/** Runs the steps of the first stage. */
function runSteps(): void {
  let workdir = '/'
  for (const [name, rest] of instructions.slice(first + 1, last)) {
    if (name === 'WORKDIR') {
      workdir = rest
      mkdirSync(join(system, workdir), { recursive: true })
    } else if (name === 'COPY') copyInto(workdir, rest)
    else if (name === 'RUN') {
      const place = [`--root=${system}`, `--wd=${workdir}`, '--mount-proc']
      const isolated = ['--mount', '--pid', '--fork', '--kill-child', ...place]
      execFileSync('unshare', [...isolated, 'sh', '-ec', rest], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    } else throw new Error(`this test does not know ${name}`)
  }
}

const rest = (wanted: string) => instructions.slice(last).find(([name]) => name === wanted)?.[1] ?? ''
const options = { architecture: ownArchitecture, committedSeconds: 0, config: {}, name: 'test/image:1' }
const digestOf = (folder: string) => archive(folder, join(dir, 'image.tar'), options)

test("the Dockerfile's steps make on Debian 13 what `make image` makes here, and it runs", async () => {
  const [, from, to] = /^--from=build (\S+) (\S+)$/.exec(rest('COPY')) ?? []
  assert.is(to, '/')
  await makeSystem()
  runSteps()
  const made = join(system, from ?? '')
  const here = join(dir, 'here')
  await assembleRootfs(here)
  execFileSync('diff', ['--recursive', '--no-dereference', here, made])
  assert.is(digestOf(made), digestOf(here))
  const entry = JSON.parse(rest('ENTRYPOINT')) as string[]
  const run = [`--userspec=${rest('USER')}`, made, ...entry, ...(JSON.parse(rest('CMD')) as string[]), '--help']
  assert.match(execFileSync('chroot', run, { encoding: 'utf8', env }), 'Usage: eip-admission serve')
})

test.run()
