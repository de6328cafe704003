import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inCluster } from '../../kube/kubeconfig.ts'
import { connect } from '../../kube/connect.ts'
import { namespaces } from '../../kube/resource.ts'
import { sendJson, errorOf, sendStatus, withServer } from './scripted-server.ts'

/** The files of a service account, gone after the test. */
async function withFiles(run: (directory: string, write: (token: string) => void) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'service-account-'))
  const write = (token: string) => writeFileSync(join(directory, 'token'), `${token}\n`)
  write('first')
  writeFileSync(join(directory, 'ca.crt'), 'a certificate')
  writeFileSync(join(directory, 'namespace'), 'eip-system')
  try {
    await run(directory, write)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('a pod uses its service account, at the address that the kubelet sets', () =>
  withFiles(async (directory) => {
    assert.equal(await inCluster({ host: '10.96.0.1', port: '443', directory }).current(), {
      url: 'https://10.96.0.1:443',
      headers: { authorization: 'Bearer first' },
      tls: { ca: 'a certificate' },
      namespace: 'eip-system',
    })
    const six = await inCluster({ host: 'fd00::1', port: 6443, directory }).current()
    assert.is(six.url, 'https://[fd00::1]:6443')
    const own = await inCluster({ url: 'https://192.0.2.7:6443', directory }).current()
    assert.equal([own.url, own.headers], ['https://192.0.2.7:6443', { authorization: 'Bearer first' }])
  }))

test('a renewed token is used within a minute', () =>
  withFiles(async (directory, write) => {
    let now = 0
    const credentials = inCluster({ host: 'h', port: 1, directory, now: () => now })
    const token = async () => (await credentials.current()).headers.authorization
    assert.is(await token(), 'Bearer first')
    write('second')
    now = 59_999
    assert.is(await token(), 'Bearer first')
    now = 60_000
    assert.is(await token(), 'Bearer second')
  }))

test('while a file cannot be read, the last good token stays in use', () =>
  withFiles(async (directory) => {
    let now = 0
    const credentials = inCluster({ host: 'h', port: 1, directory, now: () => now })
    await credentials.current()
    rmSync(join(directory, 'token'))
    now = 60_000
    assert.is((await credentials.current()).headers.authorization, 'Bearer first')
  }))

test('the error of a pod without a token says what to do', () =>
  withFiles(async (directory) => {
    rmSync(join(directory, 'token'))
    const error = await errorOf(inCluster({ host: 'h', port: 1, directory }).current())
    assert.match(error.message, new RegExp(`^service account file ${directory}/token: cannot be read; .*kubeconfig$`))
  }))

test('after a 401 the rotated token is read again, once for all calls in flight', () =>
  withFiles((directory, write) =>
    withServer(
      ({ headers }, response) => {
        if (headers.authorization === 'Bearer second') sendJson(response, { items: [], metadata: {} })
        else sendStatus(response, 401, { reason: 'Unauthorized' })
      },
      async (server) => {
        const pod = inCluster({ host: 'h', port: 1, directory })
        let renewals = 0
        const here = async (access: ReturnType<typeof pod.current>) => Object.assign(await access, { url: server.url })
        const client = connect(
          {
            current: () => here(pod.current()),
            renew(used) {
              renewals += 1
              return here(pod.renew(used))
            },
          },
          { userAgent: 'test/1' },
        )
        await pod.current()
        write('second')
        await Promise.all([client.list(namespaces), client.list(namespaces)])
        await client.list(namespaces)
        assert.is(renewals, 2)
        assert.is(server.requests.length, 5)
      },
    ),
  ))

test('calls that get 401 together read the files once', () =>
  withFiles(async (directory, write) => {
    const credentials = inCluster({ host: 'h', port: 1, directory })
    const used = await credentials.current()
    write('second')
    const [one, other] = await Promise.all([credentials.renew(used), credentials.renew(used)])
    assert.is(one, other)
    write('third')
    assert.is(await credentials.renew(used), one)
    assert.is((await credentials.renew(one)).headers.authorization, 'Bearer third')
  }))

test.run()
