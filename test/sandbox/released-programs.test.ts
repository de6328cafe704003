import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { remainingText } from '../../sandbox/go-build.ts'
import { goPrograms } from '../../sandbox/go-programs.ts'
import { downloadPrograms } from '../../sandbox/released-programs.ts'

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-download-'))
const folder = 'controller-tools/envtest'
mkdirSync(join(dir, folder), { recursive: true })
for (const name of ['etcd', 'kubectl', 'LICENSE']) writeFileSync(join(dir, folder, name), `the ${name}`)
execFileSync('tar', ['-czf', join(dir, 'a.tar.gz'), '-C', dir, 'controller-tools'])
const bytes = readFileSync(join(dir, 'a.tar.gz'))
const sha512 = createHash('sha512').update(bytes).digest('hex')

const behaviours: Record<string, (answer: ServerResponse) => void> = {
  '/good': (answer) => void answer.end(bytes),
  '/moved': (answer) => void answer.writeHead(302, { location: '/good' }).end(),
  '/lies': (answer) => void answer.end('<html>Please log in</html>'),
  '/silent': () => undefined,
  '/stalls': (answer) => void answer.writeHead(200).write(bytes.subarray(0, 10)),
  '/breaks-off': (answer) => {
    answer.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 10), () => answer.destroy())
  },
  '/missing': (answer) => void answer.writeHead(404).end(),
}
const requests: string[] = []
const server = createServer(({ url = '' }, answer) => {
  requests.push(url)
  behaviours[url]?.(answer)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function messageOf(failing: Promise<unknown>): Promise<string> {
  return failing.then(
    () => 'no error',
    (error: Error) => error.message,
  )
}

/** A server that answers has a minute for that, because a busy machine may be late by seconds. */
async function download(url: string, stallMs = 60_000): Promise<{ result: unknown; files: string[] }> {
  const to = mkdtempSync(join(dir, 'to-'))
  const archive = { url, sha512, folder, programs: ['etcd', 'kubectl'] }
  const result = await downloadPrograms(archive, to, { stallMs }).catch((error: Error) => error)
  return { result, files: readdirSync(to) }
}

for (const path of ['/good', '/moved'])
  test(`${path}: the programs are there, and nothing else`, async () => {
    const { result, files } = await download(`${base}${path}`)
    assert.equal([result, files.toSorted()], [{}, ['etcd', 'kubectl']])
  })

const unreachable: [path: string, reason: RegExp, stallMs?: number][] = [
  ['/silent', /^no data for 0.2 s$/, 200],
  ['/stalls', /^no data for 0.2 s$/, 200],
  ['/breaks-off', /other side closed|terminated/],
  ['/missing', /^it answers 404$/],
]
for (const [path, reason, stallMs] of unreachable)
  test(`${path}: the reason is returned, and no file is left`, async () => {
    const { result, files } = await download(`${base}${path}`, stallMs)
    assert.match((result as { reason: string }).reason, reason)
    assert.equal(files, [])
  })

test('a refused connection and a name that nobody knows are reasons', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await once(closed.close(), 'close')
  for (const [url, reason] of [
    [`http://127.0.0.1:${port}/`, /ECONNREFUSED/],
    ['http://nowhere.invalid/', /ENOTFOUND|EAI_AGAIN/],
  ] as const)
    assert.match(((await download(url)).result as { reason: string }).reason, reason)
})

test('another file is an error that names both sums and what to do, and nothing of it is unpacked', async () => {
  const { result, files } = await download(`${base}/lies`)
  assert.instance(result, Error)
  const { message } = result as Error
  assert.match(message, sha512)
  assert.match(message, createHash('sha512').update('<html>Please log in</html>').digest('hex'))
  assert.match(message, 'EIP_ADMISSION_BUILD=compile')
  assert.equal(files, [])
})

test('without a tar that unpacks it, the reason is returned, and no file is left', async () => {
  const { PATH } = process.env
  process.env.PATH = dir
  try {
    const { result, files } = await download(`${base}/good`)
    assert.equal([result, files], [{ reason: 'tar cannot unpack it: spawn tar ENOENT' }, []])
  } finally {
    process.env.PATH = PATH
  }
})

/** The answers that the server was asked for since the last look. */
const asked = () => requests.splice(0)

/** A module whose only program is in the archive; there is nothing to compile. */
async function programOf(path: string, how?: string): Promise<string> {
  const home = mkdtempSync(join(dir, 'cache-'))
  for (const file of ['go.mod', 'go.sum']) writeFileSync(join(home, file), '')
  const archive = { url: `${base}${path}`, sha512, folder, programs: ['etcd', 'kubectl'] }
  const programs = [{ name: 'etcd', package: 'example.com/none', built: 'none' }]
  const { XDG_CACHE_HOME: former } = process.env
  Object.assign(process.env, { XDG_CACHE_HOME: home, ...(how !== undefined && { EIP_ADMISSION_BUILD: how }) })
  try {
    const module = { name: 'm', version: 'v1', dir: home, programs, flags: [], archive, takes: 'seconds' }
    return readFileSync(join(await goPrograms(module), 'etcd'), 'utf8')
  } finally {
    if (former === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = former
    delete process.env.EIP_ADMISSION_BUILD
  }
}

test('what is released is not compiled', async () => {
  assert.is(await programOf('/good'), 'the etcd')
  asked()
})

for (const path of ['/missing', '/breaks-off'])
  test(`${path}: what cannot be had is compiled`, async () => {
    asked()
    assert.match(await messageOf(programOf(path)), /go.*list/)
    assert.equal(asked(), [path])
  })

test('another file ends the command, and nothing is compiled', async () => {
  assert.match(await messageOf(programOf('/lies')), 'is not the file that this checkout pins')
  asked()
})

test('EIP_ADMISSION_BUILD=compile downloads nothing, and any other value is an error', async () => {
  asked()
  assert.match(await messageOf(programOf('/good', 'compile')), /go.*list/)
  assert.match(await messageOf(programOf('/good', 'download')), 'it can only be compile')
  assert.equal(asked(), [])
})

for (const [elapsedMs, share, text] of [
  [3_000, 0.01, ''],
  [90_000, 0.31, ', about 3 minutes left'],
  [180_000, 0.75, ', about 1 minute left'],
  [300_000, 0.95, ', less than a minute left'],
  [330_000, 1, ''],
] as const)
  test(`after ${elapsedMs / 1000} s and ${share * 100} % the progress says "${text}"`, () =>
    assert.is(remainingText(elapsedMs, share), text))

test('Ctrl-C ends the download', async () => {
  const to = mkdtempSync(join(dir, 'to-'))
  const stop = new AbortController()
  const ended = downloadPrograms({ url: `${base}/silent`, sha512, folder, programs: [] }, to, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  const error = await ended.catch((reason: Error) => reason)
  assert.is((error as Error).message, 'stopped')
})

test.after(() => {
  server.close()
  server.closeAllConnections()
  rmSync(dir, { recursive: true })
})

test.run()
