import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Authorities } from '../../certs/authorities.ts'
import { authoritySecret } from '../../certs/authority-secret.ts'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { isSameBundle, toCaBundle } from '../../certs/bundle.ts'
import { defaultLifetimes } from '../../certs/lifetimes.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Secret } from '../../kube/objects.ts'
import { interposed } from '../fakes/interposed.ts'
import { makeCluster, secretName } from './cluster.ts'
import { day } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const signal = new AbortController().signal
const facts = { now, lifetimes: defaultLifetimes, mayRotate: true, isTrusted: () => true, alsoTrusted: '' }
const [first, second] = await Promise.all([
  issueAuthority({ commonName: 'a CA', now, lifetimeMs: 365 * day }),
  issueAuthority({ commonName: 'a CA', now, lifetimeMs: 365 * day }),
])

const lines: object[] = []
const line = (fields: object) => void lines.push(fields)
const log = { debug: line, info: line, warn: line, error: line }
const secretOf = (client: KubeClient) => authoritySecret({ client, log, at: secretName, commonName: 'a CA' })
const text = (secret: Secret | undefined, key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString()
const outcome = (promise: Promise<Authorities>) =>
  promise.then(
    () => 'no error',
    (error: Error) => error.message,
  )

test('the first replica creates the Secret as kubernetes.io/tls with the authority and the trusted certificates', async () => {
  const cluster = makeCluster()
  const made = await secretOf(cluster.client).advance(facts, signal)
  const secret = cluster.secret()
  assert.is(secret?.type, 'kubernetes.io/tls')
  assert.equal(Object.keys(secret?.data ?? {}), ['tls.crt', 'tls.key', 'ca.crt'])
  assert.is(text(secret, 'tls.crt'), made.signing.cert)
  assert.is(text(secret, 'tls.key'), made.signing.key)
  assert.is(text(secret, 'ca.crt'), made.trusted)
})

test('replicas that race for the first Secret share one authority', async () => {
  const cluster = makeCluster()
  const racers = await Promise.all([1, 2, 3].map(() => secretOf(cluster.client).advance(facts, signal)))
  assert.is(cluster.writes.length, 1)
  assert.is(new Set(racers.map(({ signing }) => signing.cert)).size, 1)
})

test('a good Secret is only read', async () => {
  const cluster = makeCluster()
  await secretOf(cluster.client).advance(facts, signal)
  await secretOf(cluster.client).advance(facts, signal)
  assert.is(cluster.writes.length, 1)
})

const tls = { 'tls.crt': toCaBundle(first.cert), 'tls.key': toCaBundle(first.key), 'ca.crt': toCaBundle(first.cert) }
const damages: { name: string; damage: (secret: Secret) => void; trustsOld: boolean }[] = [
  { name: 'has no data', damage: (secret) => delete secret.data, trustsOld: false },
  {
    name: 'is empty, as a chart may create it',
    damage: (secret) => (secret.data = { 'tls.crt': '', 'tls.key': '' }),
    trustsOld: false,
  },
  {
    name: 'has a garbage certificate',
    damage: (secret) => (secret.data = { ...tls, 'tls.crt': 'Z2FyYmFnZQ==' }),
    trustsOld: true,
  },
  {
    name: 'is not base64',
    damage: (secret) => (secret.data = { 'tls.crt': '!!!', 'tls.key': '???', 'ca.crt': '\0' }),
    trustsOld: false,
  },
  { name: 'has lost its key', damage: (secret) => delete secret.data?.['tls.key'], trustsOld: true },
  {
    name: 'has the key of another authority',
    damage: (secret) => (secret.data = { ...tls, 'tls.key': toCaBundle(second.key) }),
    trustsOld: true,
  },
]

for (const { name, damage, trustsOld } of damages) {
  test(`a Secret that ${name} is repaired, and its trusted certificates stay trusted`, async () => {
    const cluster = makeCluster()
    cluster.putSecret((secret) => {
      secret.data = { ...tls }
      damage(secret)
    })
    const healed = await secretOf(cluster.client).advance({ ...facts, mayRotate: false }, signal)
    assert.is.not(healed.signing.cert, first.cert)
    assert.ok(isSameBundle(healed.trusted, healed.signing.cert + (trustsOld ? first.cert : '')))
    assert.equal(await secretOf(cluster.client).advance(facts, signal), healed)
  })
}

test('without the annotation signing-since an earlier authority stays trusted', async () => {
  const cluster = makeCluster()
  cluster.putSecret((secret) => (secret.data = { ...tls, 'ca.crt': toCaBundle(first.cert + second.cert) }))
  const read = await secretOf(cluster.client).advance({ ...facts, now: now + 30 * day }, signal)
  assert.ok(isSameBundle(read.trusted, first.cert + second.cert))
})

test('a repair keeps the type, labels and other data of the Secret', async () => {
  const cluster = makeCluster()
  cluster.putSecret((secret) => {
    Object.assign(secret, { type: 'Opaque', data: { note: 'aGk=' } })
    secret.metadata.labels = { app: 'eip' }
  })
  await secretOf(cluster.client).advance(facts, signal)
  const { type, data, metadata } = cluster.secret() ?? {}
  assert.is(type, 'Opaque')
  assert.is(data?.['note'], 'aGk=')
  assert.equal(metadata?.labels, { app: 'eip' })
})

test("a Secret with another program's certificate is an error and is not written", async () => {
  const cluster = makeCluster()
  const leaf = await issueLeaf({ authority: first, hosts: ['www.example.com'], now, lifetimeMs: day })
  cluster.putSecret((secret) => (secret.data = { 'tls.crt': toCaBundle(leaf.cert), 'tls.key': toCaBundle(leaf.key) }))
  const message = await outcome(secretOf(cluster.client).advance(facts, signal))
  assert.match(message, 'Secret eip/eip-ca holds a certificate that is not a CA')
  assert.match(message, 'name a Secret that nothing else writes')
  assert.equal(cluster.writes, [])
})

test('after a conflict a replica uses the authority of the first write', async () => {
  const cluster = makeCluster()
  cluster.putSecret(() => {})
  const client = interposed(cluster.client, {
    before({ verb }) {
      if (verb === 'replace') cluster.putSecret((secret) => (secret.data = { ...tls }))
    },
  })
  const ours = await secretOf(client).advance(facts, signal)
  const theirs = await secretOf(cluster.client).advance(facts, signal)
  assert.is(ours.signing.cert, first.cert)
  assert.equal(theirs, ours)
})

test('a Secret that changes during every write is an error', async () => {
  const cluster = makeCluster()
  cluster.putSecret(() => {})
  const client = interposed(cluster.client, {
    before({ verb }) {
      if (verb === 'replace') cluster.putSecret(() => {})
    },
  })
  assert.match(await outcome(secretOf(client).advance(facts, signal)), 'changed during 5 writes in a row')
})

test('no log line contains a key', () => {
  assert.ok(lines.length > 0)
  assert.not.match(JSON.stringify(lines), /PRIVATE|LS0t|MII/)
})

test.run()
