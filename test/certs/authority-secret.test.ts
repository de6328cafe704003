import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Authorities } from '../../certs/authorities.ts'
import { authoritySecret } from '../../certs/authority-secret.ts'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { sameBundle, toCaBundle } from '../../certs/bundle.ts'
import { usualLifetimes } from '../../certs/lifetimes.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Secret } from '../../kube/objects.ts'
import { interposed } from '../fakes/interposed.ts'
import { makeCluster, secretName } from './cluster.ts'
import { day } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const signal = new AbortController().signal
const view = { now, lifetimes: usualLifetimes, mayRotate: true, settled: () => true, strays: '' }
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

test('the first replica makes the Secret as kubernetes.io/tls with the authority and what to trust', async () => {
  const cluster = makeCluster()
  const made = await secretOf(cluster.client).advance(view, signal)
  const secret = cluster.secret()
  assert.is(secret?.type, 'kubernetes.io/tls')
  assert.equal(Object.keys(secret?.data ?? {}), ['tls.crt', 'tls.key', 'ca.crt'])
  assert.is(text(secret, 'tls.crt'), made.signing.cert)
  assert.is(text(secret, 'tls.key'), made.signing.key)
  assert.is(text(secret, 'ca.crt'), made.trusted)
})

test('replicas that race for the first Secret end with one authority', async () => {
  const cluster = makeCluster()
  const racers = await Promise.all([1, 2, 3].map(() => secretOf(cluster.client).advance(view, signal)))
  assert.is(cluster.writes.length, 1)
  assert.is(new Set(racers.map(({ signing }) => signing.cert)).size, 1)
})

test('a Secret that is well is only read', async () => {
  const cluster = makeCluster()
  await secretOf(cluster.client).advance(view, signal)
  await secretOf(cluster.client).advance(view, signal)
  assert.is(cluster.writes.length, 1)
})

const tls = { 'tls.crt': toCaBundle(first.cert), 'tls.key': toCaBundle(first.key), 'ca.crt': toCaBundle(first.cert) }
const damages: { name: string; damage: (secret: Secret) => void; trustsOld: boolean }[] = [
  { name: 'has no data', damage: (secret) => delete secret.data, trustsOld: false },
  {
    name: 'is empty, as a chart may make it',
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
    name: 'has the key of another',
    damage: (secret) => (secret.data = { ...tls, 'tls.key': toCaBundle(second.key) }),
    trustsOld: true,
  },
]

for (const { name, damage, trustsOld } of damages) {
  test(`a Secret that ${name} heals, and what it still says is trusted stays trusted`, async () => {
    const cluster = makeCluster()
    cluster.putSecret((secret) => {
      secret.data = { ...tls }
      damage(secret)
    })
    const healed = await secretOf(cluster.client).advance({ ...view, mayRotate: false }, signal)
    assert.is.not(healed.signing.cert, first.cert)
    assert.ok(sameBundle(healed.trusted, healed.signing.cert + (trustsOld ? first.cert : '')))
    assert.equal(await secretOf(cluster.client).advance(view, signal), healed)
  })
}

test('where the annotation was lost that says since when an authority signs, an earlier one stays trusted', async () => {
  const cluster = makeCluster()
  cluster.putSecret((secret) => (secret.data = { ...tls, 'ca.crt': toCaBundle(first.cert + second.cert) }))
  const read = await secretOf(cluster.client).advance({ ...view, now: now + 30 * day }, signal)
  assert.ok(sameBundle(read.trusted, first.cert + second.cert))
})

test('healing keeps the type, labels and other data of the Secret', async () => {
  const cluster = makeCluster()
  cluster.putSecret((secret) => {
    Object.assign(secret, { type: 'Opaque', data: { note: 'aGk=' } })
    secret.metadata.labels = { app: 'eip' }
  })
  await secretOf(cluster.client).advance(view, signal)
  const { type, data, metadata } = cluster.secret() ?? {}
  assert.is(type, 'Opaque')
  assert.is(data?.['note'], 'aGk=')
  assert.equal(metadata?.labels, { app: 'eip' })
})

test("a Secret with somebody else's certificate is refused and left as it is", async () => {
  const cluster = makeCluster()
  const leaf = await issueLeaf({ authority: first, hosts: ['www.example.com'], now, lifetimeMs: day })
  cluster.putSecret((secret) => (secret.data = { 'tls.crt': toCaBundle(leaf.cert), 'tls.key': toCaBundle(leaf.key) }))
  const message = await outcome(secretOf(cluster.client).advance(view, signal))
  assert.match(message, 'Secret eip/eip-ca holds a certificate that is not a certificate authority')
  assert.match(message, 'name a Secret that nothing else writes')
  assert.equal(cluster.writes, [])
})

test('a write that comes second gives way to the first', async () => {
  const cluster = makeCluster()
  cluster.putSecret(() => {})
  const client = interposed(cluster.client, {
    before({ verb }) {
      if (verb === 'replace') cluster.putSecret((secret) => (secret.data = { ...tls }))
    },
  })
  const ours = await secretOf(client).advance(view, signal)
  const theirs = await secretOf(cluster.client).advance(view, signal)
  assert.is(ours.signing.cert, first.cert)
  assert.equal(theirs, ours)
})

test('a Secret that changes under every write is reported, not fought over', async () => {
  const cluster = makeCluster()
  cluster.putSecret(() => {})
  const client = interposed(cluster.client, {
    before({ verb }) {
      if (verb === 'replace') cluster.putSecret(() => {})
    },
  })
  assert.match(await outcome(secretOf(client).advance(view, signal)), 'changed under 5 writes in a row')
})

test('no log line carries a key', () => {
  assert.ok(lines.length > 0)
  assert.not.match(JSON.stringify(lines), /PRIVATE|LS0t|MII/)
})

test.run()
