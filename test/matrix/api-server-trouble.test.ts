// The way to the API server breaks, what was known of it grows too old, and so do our credentials and our lease.
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serviceAccountUser } from '../../manifests/names.ts'
import { eventually } from '../whole/eventually.ts'
import { layLine } from '../whole/line.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
const { controlPlane, kubectl } = world
const { calls } = world.cloud.door
const line = await layLine(Number(new URL(controlPlane.url).port))
const self = serviceAccountUser('eip-admission')

/** The product's kubeconfig, which leads by way of the line; with another token where one is given. */
function writeKubeconfig(token?: string): string {
  const text = readFileSync(controlPlane.kubeconfigFor(self), 'utf8')
  const config = JSON.parse(text.replace(controlPlane.url, `https://127.0.0.1:${line.port}`)) as {
    users: { user: { token: string } }[]
  }
  if (token) config.users[0]!.user.token = token
  const file = join(world.dir, 'by-way-of-the-line.kubeconfig')
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** A token of the product's ServiceAccount that is good for as long as a Secret of that name is there. */
async function issueToken(name: string): Promise<string> {
  const inNamespace = ['-n', 'eip-admission']
  await world.must('create', 'secret', 'generic', name, ...inNamespace)
  const uid = await world.must('get', 'secret', name, ...inNamespace, '-o=jsonpath={.metadata.uid}')
  const bound = ['--bound-object-kind=Secret', `--bound-object-name=${name}`, `--bound-object-uid=${uid}`]
  return (await world.must('create', 'token', 'eip-admission', ...inNamespace, ...bound)).trim()
}

/** What the API server answers to who comes with a token. */
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
const flags = [`--kubeconfig=${writeKubeconfig(firstToken)}`, '--sweep-interval=2s', '--unbound-grace=5s', ...elected]
const product = await world.startSwept({ env, flags })
// Who creates a Service while we cannot be asked does not wait for long.
const patience = '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":2}]'
for (const kind of ['mutating', 'validating'])
  await world.must('patch', `${kind}webhookconfiguration`, 'zz-eip-admission', '--type=json', '-p', patience)

const leads = async (one: typeof product) => /^eip_admission_leader 1$/m.test((await one.health('/metrics')).text)
const logSince = (from: number) => readFileSync(world.logOf('eip-admission'), 'utf8').slice(from)

/** All of these show their addresses, each its own, and nothing else is paid for. */
async function converged(...names: string[]): Promise<void> {
  const addresses = await Promise.all(names.map((name) => world.settled(name)))
  await eventually('nothing else is reserved', () => {
    const reserved = world.reserved().map(({ address }) => address)
    return (reserved.length === names.length && addresses.every((one) => reserved.includes(one))) || undefined
  })
}

test('the product reads a rotated token from its file when the old one is refused', async () => {
  await world.create(loadBalancer('first-token'))
  await converged('first-token')
  writeKubeconfig(secondToken)
  await world.must('delete', 'secret', 'first', '-n', 'eip-admission')
  await eventually('the old token is refused', async (see) => see(await statusFor(firstToken)) === 401 || undefined)
  // Watches that are open outlive their token: new ones have to be asked for.
  line.cut()
  const { spec } = await world.create(loadBalancer('second-token'))
  assert.ok(spec.loadBalancerIP)
  await converged('first-token', 'second-token')
})

test('no Service is missed while the watches are cut again and again', async () => {
  const names = Array.from({ length: Math.min(12, dialect.burst / 5) }, (_, n) => `cut-${n}`)
  for (const name of names) {
    await world.kubectl(['create', '-f', '-'], loadBalancer(name))
    line.cut()
    await world.must('delete', 'service', name, '--wait=false')
    line.cut()
  }
  for (const name of names) await world.gone(name)
  await converged('first-token', 'second-token')
})

test('a watch whose resource version is too old lists again, and misses nothing', async () => {
  const from = logSince(0).length
  line.hold()
  // Nobody of ours sees any of this.
  await world.must('delete', 'service', 'second-token', '--wait=false')
  await world.kubectl(['create', '-f', '-', '--request-timeout=30s'], loadBalancer('unseen'))
  await compact()
  await controlPlane.apiserver.stop()
  await controlPlane.apiserver.start()
  await eventually(
    'roles are known',
    async () => (await kubectl(['auth', 'can-i', 'watch', 'services', `--as=${self}`])).code === 0 || undefined,
  )
  line.release()
  await world.gone('second-token')
  await converged('first-token', 'unseen')
  for (const kind of ['Service', 'ElasticIP']) {
    const tooOld = new RegExp(`watch (ended|broken).*${kind}.*too old resource version`)
    await eventually(`the watch of ${kind} is told so`, () => tooOld.test(logSince(from)) || undefined)
  }
})

/** Has etcd forget everything but what is there now. */
async function compact(): Promise<void> {
  const ask = async (path: string, body: object) =>
    (await fetch(`${controlPlane.etcdUrl}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })).json()
  const { header } = (await ask('kv/range', { key: Buffer.from('x').toString('base64') })) as {
    header: { revision: string }
  }
  await ask('kv/compaction', { revision: header.revision, physical: true })
}

test('a leader that is cut off loses its lease, and writes nothing when it is connected again', async () => {
  const other = await world.serve({ env, flags: ['--only=controllers', '--sweep-interval=2s', ...elected] })
  assert.equal([await leads(product), await leads(other)], [true, false])
  line.hold()
  await eventually('the other leads', async () => (await leads(other)) || undefined)
  assert.not(await leads(product))
  calls.clear()
  await world.kubectl(['create', '-f', '-'], loadBalancer('meanwhile'))
  await world.must('delete', 'service', 'unseen', '--timeout=20s')
  await converged('first-token', 'meanwhile')
  assert.is(world.calls(routes.release), 1)
  line.release()
  const { spec } = await world.create(loadBalancer('afterwards'))
  assert.ok(spec.loadBalancerIP)
  await converged('first-token', 'meanwhile', 'afterwards')
  assert.equal([await leads(product), await leads(other)], [false, true])
  assert.is(world.calls(routes.release), 1)
})

test.after(async () => {
  for (const token of tokens) assert.not(logSince(0).includes(token))
  await world.close(line)
})

test.run()
