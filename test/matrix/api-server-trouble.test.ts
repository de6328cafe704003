// The connection to the API server breaks, resource versions grow too old, a token is replaced, a lease is lost.
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import { services } from '../../kube/resource.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { serviceAccountUser } from '../../settings/installed-names.ts'
import { eventually } from '../whole/eventually.ts'
import { knownAddresses, shownIn } from '../whole/stored.ts'
import { openTcpProxy } from '../whole/tcp-proxy.ts'
import { loadBalancer, unnamed } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage({ ownControlPlane: true })
const { controlPlane, kubectl } = stage
const { calls } = stage.cloud.control
const proxy = await openTcpProxy(Number(new URL(controlPlane.url).port))
const self = serviceAccountUser('eip-admission')

/** Writes the product's kubeconfig, which goes through the proxy; with another token if one is given. */
function writeKubeconfig(token?: string): string {
  const text = readFileSync(controlPlane.kubeconfigFor(self), 'utf8')
  const config = JSON.parse(text.replace(controlPlane.url, `https://127.0.0.1:${proxy.port}`)) as {
    users: { user: { token: string } }[]
  }
  if (token) config.users[0]!.user.token = token
  const file = join(stage.dir, 'by-way-of-the-proxy.kubeconfig')
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** Issues a token of the product's ServiceAccount that is valid while a Secret of that name exists. */
async function issueToken(name: string): Promise<string> {
  const inNamespace = ['-n', 'eip-admission']
  await stage.run('create', 'secret', 'generic', name, ...inNamespace)
  const uid = await stage.run('get', 'secret', name, ...inNamespace, '-o=jsonpath={.metadata.uid}')
  const bound = ['--bound-object-kind=Secret', `--bound-object-name=${name}`, `--bound-object-uid=${uid}`]
  return (await stage.run('create', 'token', 'eip-admission', ...inNamespace, ...bound)).trim()
}

/** The status with which the API server answers a request with this token. */
function statusFor(token: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const path = `${controlPlane.url}/api/v1/services`
    request(path, { agent: false, rejectUnauthorized: false, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

const env = dialect.here
const election = ['lease-duration=5s', 'renew-deadline=4s', 'retry-period=300ms']
const elected = election.map((time) => `--leader-elect-${time}`)
const tokens = [await issueToken('first'), await issueToken('second')]
const [firstToken = '', secondToken = ''] = tokens
// A record whose create got no answer may belong to a request in flight: it waits for twice this time.
const times = ['--sweep-interval=2s', '--unbound-grace=5s', '--cloud-timeout=4s']
const flags = [`--kubeconfig=${writeKubeconfig(firstToken)}`, ...times, ...elected]
const product = await stage.startSwept({ env, flags })

/** Sets how long a create waits for a webhook. */
async function setPatience(seconds: number): Promise<void> {
  const patch = JSON.stringify([{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: seconds }])
  for (const kind of ['mutating', 'validating'])
    await stage.run('patch', `${kind}webhookconfiguration`, 'zz-eip-admission', '--type=json', '-p', patch)
}
/** `short` is for a webhook that cannot answer, `usual` for tests of the answer. */
const [short, usual] = [2, 10]

const leads = async (one: typeof product) => /^eip_admission_leader 1$/m.test((await one.health('/metrics')).text)
const logSince = (from: number) => readFileSync(stage.logOf('eip-admission'), 'utf8').slice(from)

/** Waits until each live Service shows its own address and nothing else is reserved. */
function converged(): Promise<true> {
  return eventually('each Service has the one reservation that it shows', async (observe) => {
    const live = (await listAll(stage.client, services)).filter(({ spec }) => spec.type === 'LoadBalancer')
    const shown = observe(live.map(shownIn))
    const reserved = observe(stage.reserved().map(({ address }) => address ?? ''))
    const isWhole = new Set(shown).size === live.length && shown.every((one) => reserved.includes(one ?? ''))
    return (isWhole && reserved.length === live.length) || undefined
  })
}

test('the product reads a rotated token from its file when the old one is refused', async () => {
  await stage.create(loadBalancer('first-token'))
  await converged()
  writeKubeconfig(secondToken)
  await stage.run('delete', 'secret', 'first', '-n', 'eip-admission')
  await eventually(
    'the old token is refused',
    async (observe) => observe(await statusFor(firstToken)) === 401 || undefined,
  )
  // Open watches outlive their token, so they must be reopened.
  proxy.cut()
  const { spec } = await stage.create(loadBalancer('second-token'))
  assert.ok(spec.loadBalancerIP)
  await converged()
})

test('no Service is missed while the watches are cut again and again', async () => {
  await setPatience(short)
  const names = Array.from({ length: Math.min(12, dialect.burst / 5) }, (_, n) => `cut-${n}`)
  for (const name of names) {
    await stage.kubectl(['create', '-f', '-'], loadBalancer(name))
    proxy.cut()
    await stage.run('delete', 'service', name, '--wait=false')
    proxy.cut()
  }
  for (const name of names) await stage.gone(name)
  await converged()
})

test('after an API server was away and its history no longer exists, a replica misses nothing', async () => {
  // The leader would not do: it loses its lease meanwhile, and would list again in any case.
  const [port] = await freePorts(1)
  const unelected = ['--only=webhooks', `--webhook-secure-port=${port}`]
  const follower = await stage.serve({ env, flags: [...flags, ...unelected] })
  await stage.create(loadBalancer('deleted-unseen'))
  await converged()
  proxy.pause()
  // The product sees none of this. Two Services come and one goes, so that the replica's count differs.
  await stage.run('delete', 'service', 'deleted-unseen', '--wait=false')
  for (const name of ['unseen', 'also-unseen'])
    await stage.kubectl(['create', '-f', '-', '--request-timeout=30s'], loadBalancer(name))
  await controlPlane.apiserver.stop()
  await outdate()
  await controlPlane.apiserver.start()
  await eventually(
    'the API server knows the roles',
    async () => (await kubectl(['auth', 'can-i', 'watch', 'services', `--as=${self}`])).code === 0 || undefined,
  )
  proxy.resume()
  await stage.gone('deleted-unseen')
  await converged()
  const reserved = stage.reserved().length
  await eventually('the replica knows them all', async (observe) => {
    return observe(await knownAddresses(follower)) === reserved || undefined
  })
  await follower.stop()
})

/**
 * Makes every resource version of a watch too old. First writes to etcd, unseen by any watch, because a watch may
 * continue from the newest write.
 */
async function outdate(): Promise<void> {
  const ask = async (path: string, body: object) =>
    (await fetch(`${controlPlane.etcdUrl}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })).json()
  const [key, value] = ['unwatched', ''].map((text) => Buffer.from(text).toString('base64'))
  const { header } = (await ask('kv/put', { key, value })) as { header: { revision: string } }
  await ask('kv/compaction', { revision: header.revision, physical: true })
}

test('a leader that is cut off loses its lease, and writes nothing when it is connected again', async () => {
  await stage.create(loadBalancer('released-once'))
  await converged()
  const other = await stage.serve({ env, flags: ['--only=controllers', '--sweep-interval=2s', ...elected] })
  assert.equal([await leads(product), await leads(other)], [true, false])
  proxy.pause()
  await eventually('the other leads', async () => (await leads(other)) || undefined)
  assert.not(await leads(product))
  calls.clear()
  await stage.kubectl(['create', '-f', '-'], loadBalancer('meanwhile'))
  await stage.run('delete', 'service', 'released-once', '--timeout=120s')
  await converged()
  assert.is(stage.calls(routes.release), 1)
  proxy.resume()
  await setPatience(usual)
  // The API server applies the longer time-out a moment after it is stored.
  await eventually('a Service has its address at admission', async () => {
    return (await stage.create(unnamed('afterwards-'))).spec.loadBalancerIP
  })
  await converged()
  assert.equal([await leads(product), await leads(other)], [false, true])
  assert.is(stage.calls(routes.release), 1)
})

test.after(async () => {
  for (const token of tokens) assert.not(logSince(0).includes(token))
  await stage.close(proxy)
})

test.run()
