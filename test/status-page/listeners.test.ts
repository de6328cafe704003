// The page on both of its listeners, without a cluster.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import type { CertSource } from '../../certs/cert-source.ts'
import { nodeHttp } from '../../lib/node-http.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { openListeners } from '../../server/listeners/listeners.ts'
import { serveLoopbackPage } from '../../server/shown-page.ts'
import { statusPage } from '../../status-page/status-page.ts'
import { recordedLog } from '../kube/recorded-log.ts'
import { eventually } from '../whole/eventually.ts'
import { facts } from './builders.ts'

const folder = mkdtempSync(join(tmpdir(), 'eip-admission-page-'))
const tokenFile = join(folder, 'token')
const token = 'right-0123456789abcdef'
writeFileSync(tokenFile, token)
const bearer = { authorization: `Bearer ${token}` }

const lifetimeMs = 86_400_000
const authority = await issueAuthority({ commonName: 'ours', now: Date.now(), lifetimeMs })
const leaf = await issueLeaf({ authority, hosts: ['127.0.0.1'], now: Date.now(), lifetimeMs })
const certs = { current: () => leaf, onChange: () => undefined } as unknown as CertSource

type Send = typeof plainRequest
type Call = { method?: string; headers?: Record<string, string> }

function ask(url: string, { method = 'GET', headers = {} }: Call = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send: Send = url.startsWith('https:') ? request : nodeHttp.request
    const options = { method, headers, rejectUnauthorized: false, agent: false } as const
    send(url, options, resolve).on('error', reject).end()
  })
}

async function read(
  url: string,
  call?: Call,
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  const answer = await ask(url, call)
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += String(part)
  return { status: answer.statusCode ?? 0, text, headers: answer.headers }
}

const health = { live: [], ready: [], details: [], metrics: async () => 'metrics 1\n' }

async function openTls(hasPage = true) {
  const [port = 0] = await freePorts(1)
  const log = recordedLog()
  const page = hasPage ? statusPage({ facts: () => facts(), tokenFile, log }) : undefined
  const at = { host: '127.0.0.1', port }
  const listeners = await openListeners({ certs, tls: {}, webhooks: undefined, health: { at, page, ...health }, log })
  return { listeners, url: `https://127.0.0.1:${port}`, log }
}

async function openLoopback(options: { tokenFile?: string; broken?: boolean } = {}) {
  const [port = 0] = await freePorts(1)
  const log = recordedLog()
  const stopping = new AbortController()
  const read = () => {
    if (options.broken) throw new Error('no facts')
    return facts()
  }
  const page = statusPage({ facts: read, tokenFile: options.tokenFile, log })
  const served = serveLoopbackPage({ host: '127.0.0.1', port }, page, { log, signal: stopping.signal })
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    stopping.abort()
    await served
  }
  return { url, stop, log, port }
}

/** The first answer of a server that is about to listen. */
const answered = (url: string, call?: Call) => eventually('an answer', () => read(url, call).catch(() => undefined))

test('the health port shows the page with the token, and nothing of it without', async () => {
  const { listeners, url, log } = await openTls()
  try {
    const refused = await read(`${url}/status`)
    assert.is(refused.status, 401)
    assert.match(String(refused.headers['www-authenticate']), /^Basic /)
    const { status, text, headers } = await read(`${url}/status`, { headers: bearer })
    assert.is(status, 200)
    assert.match(text, /<!doctype html>/)
    assert.is(headers['cache-control'], 'no-store')
    assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
    assert.equal((await read(`${url}/status`, { method: 'HEAD', headers: bearer })).text, '')
    assert.is((await read(`${url}/status`, { method: 'POST', headers: bearer })).status, 404)
    assert.is((await read(`${url}/status/`, { headers: bearer })).status, 404)
    assert.is((await read(`${url}/favicon.ico`)).status, 204)
    assert.is((await read(`${url}/metrics`)).status, 200)
    assert.not.match(JSON.stringify(log.lines), token)
  } finally {
    await listeners.close(0)
  }
})

test('without a page the health port has no such path', async () => {
  const { listeners, url } = await openTls(false)
  try {
    assert.is((await read(`${url}/status`, { headers: bearer })).status, 404)
  } finally {
    await listeners.close(0)
  }
})

test('the loopback address shows the page to those who come by its name, and nothing else', async () => {
  const { url, stop } = await openLoopback()
  try {
    assert.is((await answered(`${url}/status`)).status, 200)
    const root = await read(url)
    assert.equal([root.status, root.headers['location']], [302, '/status'])
    assert.is((await read(`${url}/status?x=1`)).status, 200)
    assert.is((await read(`${url}/status`, { headers: { host: 'evil.example' } })).status, 403)
    assert.is((await read(`${url}/status`, { method: 'PUT' })).status, 405)
    for (const path of ['/metrics', '/livez', '/status/x', '//', '/%zz'])
      assert.is((await read(url + path)).status, 404)
  } finally {
    await stop()
  }
})

test('the loopback address needs the token where there is one', async () => {
  const { url, stop } = await openLoopback({ tokenFile })
  try {
    assert.is((await answered(`${url}/status`)).status, 401)
    assert.is((await read(`${url}/status`, { headers: { ...bearer, host: 'status.example' } })).status, 200)
  } finally {
    await stop()
  }
})

test('facts that cannot be read give an error and a line in the log', async () => {
  const { url, stop, log } = await openLoopback({ broken: true })
  try {
    assert.is((await answered(`${url}/status`)).status, 500)
    assert.ok(log.lines.some(({ message }) => message === 'status page not built'))
  } finally {
    await stop()
  }
})

test('a port that is taken is tried again, and an abort ends the tries', async () => {
  const holder = createServer()
  const [port = 0] = await freePorts(1)
  await once(holder.listen(port, '127.0.0.1'), 'listening')
  const log = recordedLog()
  const stopping = new AbortController()
  const page = statusPage({ facts: () => facts(), tokenFile: undefined, log })
  const served = serveLoopbackPage({ host: '127.0.0.1', port }, page, { log, signal: stopping.signal })
  await eventually('a warning', () => log.lines.some(({ level }) => level === 'warn') || undefined)
  stopping.abort()
  await served
  holder.close()
})

test.after(() => rmSync(folder, { recursive: true }))

test.run()
