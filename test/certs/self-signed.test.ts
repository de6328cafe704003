import { X509Certificate } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasCertificates, fromCaBundle, toCaBundle } from '../../certs/bundle.ts'
import { selfSigned } from '../../certs/self-signed.ts'
import { KubeError } from '../../kube/errors.ts'
import { interposed } from '../fakes/interposed.ts'
import { makeCluster, secretName } from './cluster.ts'
import { handshake, startTlsServer } from './handshake.ts'
import {
  day,
  installed,
  mutating,
  names,
  realTime,
  type Replica,
  replica,
  second,
  service,
  storedBundle,
  validating,
} from './replica.ts'

const unreachable = () =>
  new KubeError('GET secrets eip/eip-ca: connection refused', { status: 0, reason: 'Unreachable' })

test('a first start ends with a certificate that the API server trusts, and is ready', async () => {
  const cluster = installed()
  const one = replica(cluster.client, realTime())
  assert.is(
    one.source.notReady(),
    'there is no serving certificate yet: the Secret and the webhook configurations have not been read yet',
  )
  await one.turn()
  assert.is(one.source.notReady(), undefined)
  const server = await startTlsServer(one.source.current() ?? { cert: '', key: '' })
  const results = []
  for (const host of ['hook.eip.svc', 'hook.eip.svc.cluster.local', 'localhost', '127.0.0.1', '::1', 'x.eip.svc']) {
    results.push(await handshake(server.port, storedBundle(cluster), host))
  }
  server.close()
  one.stop()
  assert.equal(results, ['ok', 'ok', 'ok', 'ok', 'ok', 'ERR_TLS_CERT_ALTNAME_INVALID'])
  assert.is(one.source.caBundle(), storedBundle(cluster))
})

test('every webhook of both configurations gets the caBundle', async () => {
  const cluster = installed()
  const one = replica(cluster.client, realTime())
  await one.turn()
  one.stop()
  const written = cluster.configurations().flatMap(({ webhooks }) => webhooks ?? [])
  assert.is(written.length, 3)
  for (const { clientConfig } of written) assert.is(fromCaBundle(clientConfig.caBundle), one.source.caBundle())
})

test('start resolves when there is a certificate, and abort ends it', async () => {
  const cluster = installed()
  const stop = new AbortController()
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const source = selfSigned({ client: cluster.client, log, secret: secretName, configurations: names })
  await source.start(stop.signal)
  assert.ok(source.current())
  stop.abort()
  const late = selfSigned({ client: cluster.client, log, secret: secretName, configurations: names })
  await late.start(stop.signal)
  assert.is(late.current(), undefined)
})

test('if nothing changes, nothing is written and no listener is called', async () => {
  const cluster = installed()
  const time = realTime()
  const one = replica(cluster.client, time)
  await one.turn()
  let calls = 0
  one.source.onChange(() => calls++)
  const writes = cluster.writes.length
  for (let turn = 0; turn < 3; turn++) {
    time.ms += 10 * second
    await one.turn()
  }
  one.stop()
  assert.is(cluster.writes.length, writes)
  assert.is(calls, 0)
})

test('replicas that start together share one authority, have their own leaves and are all ready', async () => {
  const cluster = installed()
  const all = [1, 2, 3].map(() => replica(cluster.client, realTime()))
  await Promise.all(all.map(({ turn }) => turn()))
  await Promise.all(all.map(({ turn }) => turn()))
  for (const { stop } of all) stop()
  assert.equal(
    all.map(({ source }) => source.notReady()),
    [undefined, undefined, undefined],
  )
  assert.is(new Set(all.map(({ source }) => source.caBundle())).size, 1)
  assert.is(new Set(all.map(({ source }) => source.current()?.key)).size, 3)
})

test('a replica waits for an API server that is down at its start', async () => {
  const cluster = installed()
  let down = true
  const client = interposed(cluster.client, {
    before() {
      if (down) throw unreachable()
    },
  })
  const one = replica(client, realTime())
  await one.turn()
  await one.turn()
  assert.is(one.source.current(), undefined)
  assert.match(one.source.notReady() ?? '', 'connection refused')
  down = false
  await one.turn()
  one.stop()
  assert.is(one.source.notReady(), undefined)
})

test('with the API server down the last certificate is served, and renewed when it ages', async () => {
  const cluster = installed()
  let down = false
  const client = interposed(cluster.client, {
    before() {
      if (down) throw unreachable()
    },
  })
  const time = realTime()
  const one = replica(client, time)
  await one.turn()
  const before = one.source.current()
  down = true
  time.ms += 4 * day
  await one.turn()
  assert.is(one.source.current(), before)
  time.ms += day
  await one.turn()
  one.stop()
  assert.is.not(one.source.current(), before)
  assert.ok((one.source.notAfterMs() ?? 0) > time.ms + 6.9 * day)
  assert.is(one.source.notReady(), undefined)
})

test('after years of suspension with the API server down, the expired authority issues no certificate', async () => {
  const cluster = installed()
  let down = false
  const client = interposed(cluster.client, {
    before() {
      if (down) throw unreachable()
    },
  })
  const time = realTime()
  const one = replica(client, time)
  await one.turn()
  const before = one.source.current()
  down = true
  time.ms += 800 * day
  await one.turn()
  assert.is(one.source.current(), before)
  assert.match(one.source.notReady() ?? '', 'the serving certificate cannot be used: expired')
  down = false
  await one.turn()
  one.stop()
  assert.is(one.source.notReady(), undefined)
  assert.is(storedBundle(cluster), one.source.caBundle())
})

test('a new host in a configuration makes a new certificate, and its listener is called', async () => {
  const cluster = installed()
  const time = realTime()
  const one = replica(cluster.client, time)
  await one.turn()
  let served = ''
  one.source.onChange(() => (served = one.source.current()?.cert ?? ''))
  cluster.removeConfigurations()
  cluster.putConfiguration(mutating({ url: 'https://192.0.2.9:9443/mutate-service' }))
  cluster.putConfiguration(validating({ url: 'https://[2001:db8::9]/validate-service' }))
  await one.turn()
  one.stop()
  const names = new X509Certificate(served).subjectAltName ?? ''
  assert.match(names, 'IP Address:192.0.2.9, IP Address:2001:DB8:0:0:0:0:0:9')
  assert.is(one.source.notReady(), undefined)
})

test('without the configurations a certificate is served, nothing is created, and notReady names what is missing', async () => {
  const cluster = makeCluster()
  const time = realTime()
  const one = replica(cluster.client, time)
  await one.turn()
  await one.turn()
  assert.ok(one.source.current())
  assert.equal(cluster.configurations(), [])
  assert.is(one.source.notReady(), 'MutatingWebhookConfiguration eip-mutating does not exist: install it')
  assert.is(one.log.filter(({ message }) => message.includes('does not exist')).length, 2)
  cluster.putConfiguration(mutating(service))
  cluster.putConfiguration(validating(service))
  await one.turn()
  one.stop()
  assert.is(one.source.notReady(), undefined)
})

for (const [deleted, left] of [
  ['validating', mutating],
  ['mutating', validating],
] as const)
  test(`a replica stays ready after a person has deleted the ${deleted} configuration, because the other one calls it`, async () => {
    const cluster = installed()
    const one = replica(cluster.client, realTime())
    await one.turn()
    cluster.removeConfigurations()
    cluster.putConfiguration(left(service))
    await one.turn()
    one.stop()
    assert.is(one.source.notReady(), undefined)
  })

test('a caBundle that cannot be written keeps the replica from being ready', async () => {
  const cluster = installed()
  const client = interposed(cluster.client, {
    before({ verb }) {
      if (verb === 'patch') throw new KubeError('patch is forbidden', { status: 403, reason: 'Forbidden' })
    },
  })
  const one = replica(client, realTime())
  await one.turn()
  one.stop()
  assert.ok(one.source.current())
  assert.match(one.source.notReady() ?? '', /caBundle of webhook w0.*MutatingWebhookConfiguration eip-mutating/)
  assert.match(String(one.log.at(-1)?.fields['error']), 'patch is forbidden')
})

test('an overwritten caBundle is restored by the next check', async () => {
  const cluster = installed()
  const one = replica(cluster.client, realTime())
  await one.turn()
  cluster.putConfiguration(mutating({ ...service, caBundle: toCaBundle('garbage') }, service))
  await one.turn()
  one.stop()
  assert.is(storedBundle(cluster), one.source.caBundle())
  assert.is(one.source.notReady(), undefined)
})

test('a deleted Secret is created again, and all served certificates stay trusted', async () => {
  const cluster = installed()
  const time = realTime()
  const [one, two] = [replica(cluster.client, time), replica(cluster.client, time)]
  await one.turn()
  await two.turn()
  const [serverOne, serverTwo] = [await serverOf(one), await serverOf(two)]
  cluster.removeSecret()
  const results = new Set<string>()
  for (let check = 0; check < 6; check++) {
    for (const replica of [one, two]) {
      const lateBundle = storedBundle(cluster)
      await replica.turn()
      for (const { port } of [serverOne, serverTwo]) results.add(await handshake(port, lateBundle))
    }
    time.ms += 10 * second
  }
  for (const open of [serverOne, serverTwo]) open.close()
  for (const { stop } of [one, two]) stop()
  assert.equal([...results], ['ok'])
  const secret = cluster.secret()
  const signing = Buffer.from(secret?.data?.['tls.crt'] ?? '', 'base64').toString()
  for (const { source } of [one, two]) {
    assert.ok(new X509Certificate(source.current()?.cert ?? '').verify(new X509Certificate(signing).publicKey))
    assert.is(source.notReady(), undefined)
  }
})

test('a new replica that repairs the Secret keeps the certificates of the others trusted', async () => {
  const cluster = installed()
  const time = realTime()
  const [serving, starting] = [replica(cluster.client, time), replica(cluster.client, time)]
  await serving.turn()
  const open = await serverOf(serving)
  cluster.removeSecret()
  await starting.turn()
  const result = await handshake(open.port, storedBundle(cluster))
  open.close()
  for (const { stop } of [serving, starting]) stop()
  assert.is(result, 'ok')
  assert.is(starting.source.notReady(), undefined)
})

test('the key of a leaf is only in memory', async () => {
  const cluster = installed()
  const one = replica(cluster.client, realTime())
  await one.turn()
  one.stop()
  const key = one.source.current()?.key ?? ''
  const stored = JSON.stringify([cluster.secret(), cluster.configurations()])
  assert.not(stored.includes(Buffer.from(key).toString('base64').slice(100, 200)))
  assert.not.match(JSON.stringify(one.log), /PRIVATE|LS0t|MII/)
  assert.ok(hasCertificates(one.source.caBundle(), storedBundle(cluster)))
})

const ignore = () => {}

async function serverOf({ source }: Replica) {
  const open = await startTlsServer(source.current() ?? { cert: '', key: '' })
  source.onChange(() => open.serve(source.current() ?? { cert: '', key: '' }))
  return open
}

test.run()
