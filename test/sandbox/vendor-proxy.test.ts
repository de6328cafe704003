// Clients that know a vendor by its host names reach the simulated cloud, and nothing else.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, get as getPlain } from 'node:http'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type VendorProxy, startVendorProxy } from '../../sandbox/clouds/vendor-proxy.ts'
import { type DialectName, dialects } from '../../sandbox/dialects.ts'
import { errorOf } from '../kube/scripted-server.ts'
import { runProgram } from './run-program.ts'

/** Sends a request as a program does that has the proxy and its authority in its environment. */
async function read(
  { url: HTTPS_PROXY, authority }: Pick<VendorProxy, 'url' | 'authority'>,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; body: string }> {
  const agent = new Agent({ proxyEnv: { HTTPS_PROXY }, ca: authority })
  const [answer] = (await once(get(url, { agent, headers }), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, body: await text(answer) }
}

const apis: { dialect: DialectName; projects: string; header: (token: string) => Record<string, string> }[] = [
  {
    dialect: 'equinix-metal',
    projects: 'https://api.equinix.com/metal/v1/projects',
    header: (token) => ({ 'x-auth-token': token }),
  },
  {
    dialect: 'packet',
    projects: 'https://api.packet.net/projects',
    header: (token) => ({ 'x-auth-token': token }),
  },
  {
    dialect: 'cherry-servers',
    projects: 'https://api.cherryservers.com/v1/projects',
    header: (token) => ({ authorization: `Bearer ${token}` }),
  },
]

for (const { dialect, projects, header } of apis)
  test(`${dialect}: the simulated cloud answers for the vendor's host name, whatever it answers`, async () => {
    const { cloud, project, token } = await dialects[dialect].open()
    const proxy = await startVendorProxy(dialects[dialect].vendorHosts(cloud.url))
    try {
      const { status, body } = await read(proxy, `${projects}/${project}`, header(token))
      assert.is(status, 200, body)
      assert.match(body, project)
      assert.is((await read(proxy, `${projects}/${project}`, header('of nobody'))).status, 401)
      cloud.control.faults.add({ answer: 'reset' })
      await errorOf(read(proxy, `${projects}/${project}`, header(token)))
      assert.equal(proxy.refused, [])
    } finally {
      await proxy.close()
      await cloud.close()
    }
  })

for (const dialect of ['equinix-metal', 'cherry-servers'] as const)
  test(`${dialect}: the program of the simulated cloud has the proxy where a file for its authority is named`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'eip-admission-vendor-proxy-'))
    const file = join(dir, 'authority.pem')
    const { child, output, ended } = runProgram(dialect, ['--token', 'full', '--authority-file', file])
    try {
      while (!output.stdout.includes('\n')) await once(child.stdout, 'data')
      const ready = JSON.parse(output.stdout) as { proxyUrl: string; projects: unknown[] }
      const { projects = '', header } = apis.find((one) => one.dialect === dialect) ?? {}
      const proxy = { url: ready.proxyUrl, authority: readFileSync(file, 'utf8') }
      const { status } = await read(proxy, `${projects}/${String(ready.projects[0])}`, header?.('full'))
      assert.is(status, 200)
      child.kill('SIGTERM')
      assert.is((await ended)[0], 0)
    } finally {
      child.kill('SIGKILL')
      rmSync(dir, { recursive: true })
    }
  })

test('every other host is refused, and other ports of a vendor, and calls without TLS', async () => {
  const { cloud } = await dialects['cherry-servers'].open()
  const proxy = await startVendorProxy(dialects['cherry-servers'].vendorHosts(cloud.url))
  const others = ['api.equinix.com:443', 'api.cherryservers.com:8443', '127.0.0.1.example.com:443']
  try {
    for (const host of others) {
      const { code } = (await errorOf(read(proxy, `https://${host}/v1`))) as NodeJS.ErrnoException
      assert.is(code, 'ERR_PROXY_TUNNEL')
    }
    const plain = 'http://api.cherryservers.com/v1'
    const [answer] = (await once(getPlain(proxy.url, { path: plain }), 'response')) as [IncomingMessage]
    assert.is(answer.statusCode, 403)
    assert.equal(proxy.refused, [...others, plain])
    assert.is(cloud.control.calls.count(), 0)
  } finally {
    await proxy.close()
    await cloud.close()
  }
})

test('it forwards to a simulated cloud alone', async () => {
  const { message } = await errorOf(startVendorProxy({ 'api.example.com': 'https://api.cherryservers.com' }))
  assert.match(message, 'expected http://127.0.0.1')
})

test.run()
