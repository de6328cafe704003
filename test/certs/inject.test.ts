import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority } from '../../certs/authority.ts'
import { fromCaBundle, mergeBundles, isSameBundle, toCaBundle } from '../../certs/bundle.ts'
import { bundlePatch, injector, verifiedHosts } from '../../certs/inject.ts'
import type { ClientConfig } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations } from '../../kube/resource.ts'
import { makeCluster } from './cluster.ts'
import { day, mutating, names, service, validating } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const newCert = async (commonName: string, lifetimeMs: number) =>
  (await issueAuthority({ commonName, now, lifetimeMs })).cert
const [ours, retired, foreign, foreignExpired] = await Promise.all([
  newCert('ours', 365 * day),
  newCert('ours', 365 * day),
  newCert('cert-manager', 365 * day),
  newCert('cert-manager', -1000),
])
const trust = { trusted: ours, subject: 'CN=ours', now }
const signal = new AbortController().signal

const bundles = [
  { name: 'an absent caBundle is written', caBundle: undefined, holds: [ours] },
  { name: 'an empty caBundle is written', caBundle: '', holds: [ours] },
  { name: 'a caBundle with only a line end, as charts set it, is written', caBundle: 'Cg==', holds: [ours] },
  { name: 'garbage in a caBundle is replaced', caBundle: toCaBundle('garbage'), holds: [ours] },
  { name: 'the authority of another program stays', caBundle: toCaBundle(foreign), holds: [ours, foreign] },
  { name: 'an expired authority is removed', caBundle: toCaBundle(foreignExpired + foreign), holds: [ours, foreign] },
  { name: 'our retired authority is removed', caBundle: toCaBundle(retired + ours), holds: [ours] },
]

for (const { name, caBundle, holds } of bundles) {
  test(name, async () => {
    const cluster = makeCluster()
    const config: ClientConfig = caBundle === undefined ? service : { ...service, caBundle }
    cluster.putConfiguration(mutating(service, config))
    const { injection } = setUp(cluster)
    await injection.inject(await injection.look(signal), trust, signal)
    const written = cluster.configurations()[0]?.webhooks?.[1]?.clientConfig.caBundle
    assert.ok(isSameBundle(fromCaBundle(written), mergeBundles(holds, now)))
  })
}

test('a caBundle with the right certificates is not written, in any order', () => {
  const text = `${foreign}\n# a comment\n${ours}`
  assert.equal(bundlePatch(mutating({ ...service, caBundle: toCaBundle(text) }), trust), [])
})

test('only the outdated webhooks are patched, and only their caBundle', () => {
  const current = { ...service, caBundle: toCaBundle(ours) }
  const stored = mutating(current, service, current, service)
  stored.metadata.resourceVersion = '7'
  assert.equal(bundlePatch(stored, trust), [
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/webhooks/1/clientConfig/caBundle', value: toCaBundle(ours) },
    { op: 'add', path: '/webhooks/3/clientConfig/caBundle', value: toCaBundle(ours) },
  ])
})

test('a configuration that has changed since it was read is not written', async () => {
  const cluster = makeCluster()
  cluster.putConfiguration(mutating(service))
  const { injection } = setUp(cluster)
  const before = await injection.look(signal)
  cluster.putConfiguration(mutating({ url: 'https://new.example/' }, service))
  const outcome = await injection.inject(before, trust, signal).then(
    () => 'written',
    (error: Error) => error.message,
  )
  assert.match(outcome, 'Conflict')
  assert.is(cluster.configurations()[0]?.webhooks?.[0]?.clientConfig.caBundle, undefined)
})

test('an absent configuration is never created, and is logged once', async () => {
  const cluster = makeCluster()
  const { injection, lines } = setUp(cluster)
  for (let look = 0; look < 3; look++) await injection.inject(await injection.look(signal), trust, signal)
  assert.equal(cluster.configurations(), [])
  assert.is(lines.length, 2)
  assert.match(lines[0] ?? '', 'MutatingWebhookConfiguration eip-mutating')
})

test('a configuration that is removed again is logged again', async () => {
  const cluster = makeCluster()
  cluster.putConfiguration(mutating(service))
  cluster.putConfiguration(validating(service))
  const { injection, lines } = setUp(cluster)
  await injection.look(signal)
  assert.is(lines.length, 0)
  cluster.removeConfigurations()
  await injection.look(signal)
  assert.is(lines.length, 2)
})

const hosts = [
  { name: 'a Service', configs: [service], hosts: ['hook.eip.svc', 'hook.eip.svc.cluster.local'] },
  {
    name: 'the same Service twice',
    configs: [service, service],
    hosts: ['hook.eip.svc', 'hook.eip.svc.cluster.local'],
  },
  { name: 'a URL', configs: [{ url: 'https://Hooks.example.com:8443/mutate' }], hosts: ['hooks.example.com'] },
  { name: 'a URL with an IPv4 address', configs: [{ url: 'https://192.0.2.7/mutate' }], hosts: ['192.0.2.7'] },
  { name: 'a URL with an IPv6 address', configs: [{ url: 'https://[2001:db8:0::7]:9443/' }], hosts: ['2001:db8::7'] },
  { name: 'a text that is not a URL', configs: [{ url: 'hooks' }], hosts: [] },
  { name: 'nothing', configs: [], hosts: [] },
]

for (const { name, configs, hosts: expected } of hosts) {
  test(`the API server verifies us by the host of ${name}`, () => {
    const target = { resource: mutatingWebhookConfigurations, name: names.mutating, stored: mutating(...configs) }
    assert.equal(verifiedHosts([target]), expected)
  })
}

const ignore = () => {}

function setUp({ client }: ReturnType<typeof makeCluster>) {
  const lines: string[] = []
  const warn = (fields: object) => lines.push(Object.values(fields).join(' '))
  return { lines, injection: injector({ client, log: { debug: ignore, info: ignore, warn, error: ignore }, names }) }
}

test.run()
