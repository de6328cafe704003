import { X509Certificate } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority } from '../../certs/authority.ts'
import { hasCertificates, isSameBundle, toCaBundle } from '../../certs/bundle.ts'
import { KubeError } from '../../kube/errors.ts'
import { interposed } from '../fakes/interposed.ts'
import type { Cluster } from './cluster.ts'
import { handshake, startTlsServer } from './handshake.ts'
import { poolKeys } from './pooled-keys.ts'
import { day, installed, realTime, type Replica, replica, second, storedBundle, type Time } from './replica.ts'

poolKeys()
const ageing = await issueAuthority({
  commonName: 'eip-admission CA',
  now: Date.now() - 300 * day,
  lifetimeMs: 365 * day,
})
const none = { cert: '', key: '' }
const inSecret = (cluster: Cluster, key: string) =>
  Buffer.from(cluster.secret()?.data?.[key] ?? '', 'base64').toString()
const signer = ({ source }: Replica, authority: string) =>
  new X509Certificate(source.current()?.cert ?? '').verify(new X509Certificate(authority).publicKey)

/** A cluster whose authority is in its last third, with two serving replicas, one of which leads from now on. */
async function ageingCluster(connect = (cluster: Cluster) => cluster.client) {
  const cluster = installed()
  const time = realTime()
  cluster.putSecret((secret) => {
    const { cert, key } = ageing
    secret.data = { 'tls.crt': toCaBundle(cert), 'tls.key': toCaBundle(key), 'ca.crt': toCaBundle(cert) }
  })
  let leads = false
  const follower = replica(cluster.client, time, { mayRotate: () => false })
  const leader = replica(connect(cluster), time, { mayRotate: () => leads })
  for (const { turn } of [follower, leader]) await turn()
  leads = true
  return { cluster, time, leader, follower }
}

test('while authority and leaves change, every handshake of the clients succeeds', async () => {
  const { cluster, time, leader, follower } = await ageingCluster()
  const clients = await connectAllTheTime(cluster, [leader, follower])
  for (let check = 0; check < 10; check++) await oneCheck(time, clients, [leader, follower])
  await clients.stop()
  assert.equal([...clients.results.keys()], ['ok'])
  assert.ok((clients.results.get('ok') ?? 0) >= 40, `${clients.results.get('ok')} handshakes`)
  const next = inSecret(cluster, 'tls.crt')
  assert.is.not(next, ageing.cert)
  assert.ok(signer(leader, next) && signer(follower, next), 'both replicas sign with the new authority')
  assert.ok(hasCertificates(storedBundle(cluster), ageing.cert + next), 'the old authority is still trusted')
  for (const { source, stop } of [leader, follower]) {
    assert.is(source.notReady(), undefined)
    stop()
  }
})

test('nothing is signed with a new authority before it has been trusted for 30 s', async () => {
  const { cluster, time, leader, follower } = await ageingCluster()
  const signedByOld: boolean[] = []
  for (let check = 0; check < 5; check++) {
    for (const { turn } of [leader, follower]) await turn()
    signedByOld.push(signer(leader, ageing.cert) && inSecret(cluster, 'tls.crt') === ageing.cert)
    time.ms += 10 * second
  }
  for (const { stop } of [leader, follower]) stop()
  assert.equal(signedByOld, [true, true, true, false, false])
})

test('an overwritten caBundle starts the 30 s again', async () => {
  const { cluster, time, leader, follower } = await ageingCluster()
  for (let check = 0; check < 4; check++) {
    await leader.turn()
    const [configuration] = cluster.configurations()
    const webhook = configuration?.webhooks?.[0]
    if (configuration && webhook) webhook.clientConfig.caBundle = toCaBundle(ageing.cert)
    if (configuration) cluster.putConfiguration(configuration)
    time.ms += 10 * second
  }
  for (const { stop } of [leader, follower]) stop()
  assert.is(inSecret(cluster, 'tls.crt'), ageing.cert)
})

for (const read of [1, 2, 3]) {
  test(`a follower that is before read ${read} of a check while the leader publishes drops nothing`, async () => {
    const { cluster, time, leader, follower } = await ageingCluster()
    let reads: number | undefined
    const client = interposed(cluster.client, {
      async before({ verb }) {
        if (verb === 'get' && reads !== undefined && ++reads === read) await leader.turn()
      },
    })
    const slow = replica(client, time, { mayRotate: () => false })
    await slow.turn()
    reads = 0
    await slow.turn()
    for (const { stop } of [leader, follower, slow]) stop()
    assert.ok(hasCertificates(storedBundle(cluster), ageing.cert + inSecret(cluster, 'next.crt')))
    assert.is.not(inSecret(cluster, 'next.crt'), '')
  })
}

test('a follower never rotates', async () => {
  const { cluster, time, follower } = await ageingCluster()
  for (let check = 0; check < 6; check++) {
    time.ms += 10 * second
    await follower.turn()
  }
  follower.stop()
  assert.is(inSecret(cluster, 'tls.crt'), ageing.cert)
  assert.is(inSecret(cluster, 'next.crt'), '')
})

test('the old authority is removed from Secret and caBundle a day after its last leaf has expired', async () => {
  const { cluster, time, leader, follower } = await ageingCluster()
  const round = async (passed: number) => {
    time.ms += passed
    for (const { turn } of [leader, follower]) await turn()
  }
  for (let check = 0; check < 6; check++) await round(10 * second)
  await round(7.9 * day)
  assert.ok(hasCertificates(storedBundle(cluster), ageing.cert))
  await round(0.2 * day)
  for (const { stop } of [leader, follower]) stop()
  assert.ok(isSameBundle(inSecret(cluster, 'ca.crt'), inSecret(cluster, 'tls.crt')))
  assert.ok(isSameBundle(storedBundle(cluster), inSecret(cluster, 'tls.crt')))
})

// The writes of a rotation: publish in the Secret, the two configurations, promote in the Secret.
for (const answer of ['refused', 'lost'] as const) {
  for (const writes of [0, 1, 2, 3]) {
    test(`a leader that dies when write ${writes + 1} of a rotation is ${answer} has a successor that finishes it`, async () => {
      const { cluster, time, leader, follower } = await ageingCluster((cluster) => mortal(cluster, { writes, answer }))
      const clients = await connectAllTheTime(cluster, [leader, follower])
      for (let check = 0; check < 5; check++) await oneCheck(time, clients, [leader, follower])
      leader.stop()
      const successor = replica(cluster.client, time)
      for (let check = 0; check < 6; check++) await oneCheck(time, clients, [successor, follower])
      await clients.stop()
      for (const { stop } of [successor, follower]) stop()
      const next = inSecret(cluster, 'tls.crt')
      assert.equal([...clients.results.keys()], ['ok'])
      assert.is.not(next, ageing.cert)
      assert.is(inSecret(cluster, 'next.crt'), '')
      assert.ok(signer(successor, next) && signer(follower, next))
      assert.ok(isSameBundle(storedBundle(cluster), ageing.cert + next), 'one rotation was made, not two')
    })
  }
}

const dead = () => new KubeError('connection refused', { status: 0, reason: 'Unreachable' })

/** A client that dies: of the write after these, the call is refused or its answer is lost, and all later calls fail. */
function mortal(cluster: Cluster, { writes, answer }: { writes: number; answer: 'refused' | 'lost' }) {
  let left = writes
  return interposed(cluster.client, {
    before({ verb }) {
      if (left < 0 || (verb !== 'get' && left === 0 && answer === 'refused')) {
        left = -1
        throw dead()
      }
    },
    after({ verb }) {
      if (verb === 'get') return
      left -= 1
      if (left < 0) throw dead()
    },
  })
}

/** Advances the time, lets each replica check, and gives the API server the caBundle of 20 s ago. */
async function oneCheck(time: Time, clients: Clients, replicas: Replica[]) {
  time.ms += 10 * second
  for (const { turn } of replicas) await turn()
  await clients.hear()
}

type Clients = { results: Map<string, number>; hear(): Promise<void>; stop(): Promise<void> }

/** A client for each replica that connects all the time, as an API server that learns of every change late. */
async function connectAllTheTime(cluster: Cluster, replicas: Replica[]): Promise<Clients> {
  const results = new Map<string, number>()
  const heard = [storedBundle(cluster), storedBundle(cluster)]
  const over = new AbortController()
  const handshakes = replicas.map(() => 0)
  const loops = replicas.map(async ({ source }, client) => {
    const server = await startTlsServer(source.current() ?? none)
    source.onChange(() => server.serve(source.current() ?? none))
    while (!over.signal.aborted) {
      const answer = await handshake(server.port, heard.at(-2) ?? '')
      results.set(answer, (results.get(answer) ?? 0) + 1)
      handshakes[client] = (handshakes[client] ?? 0) + 1
    }
    server.close()
  })
  return {
    results,
    async hear() {
      heard.push(storedBundle(cluster))
      // A handshake may be under way; the next one is with what was just heard.
      const before = [...handshakes]
      while (handshakes.some((count, client) => count < (before[client] ?? 0) + 2)) await delay(1)
    },
    async stop() {
      over.abort()
      await Promise.all(loops)
    },
  }
}

test.run()
