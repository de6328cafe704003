import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { connect } from '../../kube/connect.ts'
import type { Tls } from '../../kube/credentials.ts'
import { namespaces } from '../../kube/resource.ts'
import { errorOf } from './scripted-server.ts'
import { selfSigned } from './self-signed.ts'

const { key, cert } = selfSigned('127.0.0.1')

/** A TLS server that answers with its client's identity, and a client whose credentials the test changes. */
async function withTls(
  run: (set: (tls: Tls) => void, list: () => Promise<unknown>, opened: () => number) => Promise<void>,
) {
  let opened = 0
  const server = createServer({ key, cert, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate()
    response.end(JSON.stringify({ metadata: { subject: subject?.CN }, items: [] }))
  })
  server.on('secureConnection', () => (opened += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let access = { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {}, tls: {} }
  const client = connect({ current: async () => access, renew: async () => access }, { userAgent: 'test/1' })
  try {
    await run(
      (tls) => (access = { ...access, tls }),
      () => client.list(namespaces),
      () => opened,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('connections stay open until the CA or the certificate changes', () =>
  withTls(async (set, list, opened) => {
    set({ ca: cert })
    await list()
    set({ ca: Buffer.from(cert).toString() })
    await list()
    assert.is(opened(), 1)
    set({ ca: `${cert}\n${cert}` })
    await list()
    assert.is(opened(), 2)
    set({ ca: cert, cert, key })
    assert.equal(await list(), { metadata: { subject: 'kube-apiserver' }, items: [] })
    assert.is(opened(), 3)
  }))

test('no request is sent to a server whose certificate our CA did not sign', () =>
  withTls(async (set, list, opened) => {
    set({})
    const error = await errorOf(list())
    assert.match(error.message, /^list Namespace: no answer from the API server: self-signed certificate/)
    set({ rejectUnauthorized: false })
    await list()
    assert.is(opened(), 1)
  }))

test.run()
