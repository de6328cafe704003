// The ways in which kube-vip reads what we write on nodes and Services, release by release.
import fc from 'fast-check'
import { test } from 'uvu'
import { canonicalIpAddress, isUnspecified } from '../../lib/ip-address.ts'
import * as assert from 'uvu/assert'
import { empty } from '../../announcers/empty.ts'
import { kubeVip } from '../../announcers/kube-vip/kube-vip.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { makeService } from '../builders.ts'
import { makeHarness } from '../ledger/harness.ts'
import { type Release, releases, rulesOf } from './kube-vip-releases.ts'
import { startedKubeVip } from './kube-vip-process.ts'
import { givesUp, readService, shownBy } from './kube-vip-service.ts'

const address = '198.51.100.7'
const other = '198.51.100.8'
const name = 'kube-vip.io/loadbalancerIPs'
const ofKubeVip = kubeVip()
const shows = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } })

/** A Service that we gave an address, and a kube-vip of each release that saw every one of our writes. */
async function served(announcer = ofKubeVip) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const running = releases.map((release) => [release, startedKubeVip(release)] as const)
  const announced = (release: Release) => watching.get(release) ?? []
  const watching = new Map<Release, string[]>()
  const look = () => {
    for (const [release, kubeVip] of running) watching.set(release, kubeVip.see(harness.api.stored<Service>(services)))
  }
  const process = harness.alone('a', { announcer, kube: { before: look, after: look } })
  const stored = () => harness.api.stored<Service>(services)[0]
  harness.addService(makeService())
  const settle = async (change?: (service: Service) => Service): Promise<Service> => {
    const before = stored()
    if (before && change) harness.api.put(services, change(before))
    await process.reconcile('default/web')
    return stored() ?? makeService({ type: 'ClusterIP' })
  }
  return { ...harness, settle, stored, announced, service: await settle() }
}

const ways: [where: string, service: Service, read: Record<Release, string[]>][] = [
  [
    'the annotation and spec.loadBalancerIP',
    makeService({ annotations: { [name]: address }, loadBalancerIP: other }),
    { '0.5.11': [other], '0.5.12': [address], '0.6.1': [address], '0.8.10': [address], '1.2.0': [address] },
  ],
  [
    'the status alone',
    makeService({ status: shows(address) }),
    { '0.5.11': [], '0.5.12': [], '0.6.1': [], '0.8.10': [address], '1.2.0': [address] },
  ],
  [
    'spec.loadBalancerIP and another status of its family',
    makeService({ loadBalancerIP: address, status: shows(other) }),
    { '0.5.11': [address], '0.5.12': [address], '0.6.1': [address], '0.8.10': [address], '1.2.0': [address] },
  ],
  [
    'spec.loadBalancerIP and a status of the other family',
    makeService({ loadBalancerIP: address, status: shows('2001:db8::7') }),
    {
      '0.5.11': [address],
      '0.5.12': [address],
      '0.6.1': [address],
      '0.8.10': ['2001:db8::7'],
      '1.2.0': ['2001:db8::7'],
    },
  ],
]
for (const [where, service, read] of ways) {
  for (const release of releases)
    test(`kube-vip ${release} finds ${read[release].join() || 'no address'} in ${where}`, () =>
      assert.equal(readService(service, release), read[release]))
}

test('kube-vip announces nothing for a Service of another class', () => {
  const asked = { loadBalancerIP: address }
  const others = [
    makeService({ ...asked, type: 'ClusterIP' }),
    makeService({ ...asked, loadBalancerClass: 'example.com/other' }),
    makeService({ ...asked, annotations: { 'kube-vip.io/ignore': 'true' } }),
  ]
  for (const release of releases) for (const service of others) assert.equal(readService(service, release), [])
  assert.equal(readService(makeService({ ...asked, loadBalancerClass: 'kube-vip.io/kube-vip-class' }), '1.2.0'), [
    address,
  ])
})

/** Edits of a Service by a user, so that kube-vip goes on announcing it and would not heed its deletion. */
const beforeDeletion: Record<string, (service: Service) => Service> = {
  'turned into another type': ({ spec, ...rest }) => ({
    ...rest,
    spec: { ...spec, type: 'ClusterIP' },
    status: { loadBalancer: {} },
  }),
  'with the annotation that ignores it': ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'kube-vip.io/ignore': 'true' } },
  }),
}

for (const release of releases) {
  test(`kube-vip ${release} announces the address that a Service was given, and keeps it while we look on`, async () => {
    const { settle, service } = await served()
    const { loadBalancerIP = '' } = service.spec
    assert.ok(loadBalancerIP)
    assert.equal(readService(service, release), [loadBalancerIP])
    assert.is(service.status, undefined)

    const shown = await settle((stored) => shownBy(stored, release))
    assert.equal(shown.status, shownBy(service, release).status)
    assert.equal(readService(shown, release), [loadBalancerIP])
    assert.not(givesUp(shown, release))
  })

  test(`kube-vip ${release}, already running, announces a new Service and continues while we look on`, async () => {
    const { settle, announced, service } = await served()
    const { loadBalancerIP } = service.spec
    assert.equal(announced(release), [loadBalancerIP])
    await settle((stored) => shownBy(stored, release))
    assert.equal(announced(release), [loadBalancerIP])
  })

  for (const [where, annotations] of Object.entries({ spec: {}, 'spec and annotation': { [name]: other } }))
    test(`kube-vip ${release}, already running, continues with a Service whose own address is in ${where}`, async () => {
      const { settle, announced } = await served()
      await settle(() => makeService({ uid: 'own', loadBalancerIP: other, annotations }))
      await settle((stored) => shownBy(stored, release))
      assert.equal(announced(release), [other])
    })

  test(`kube-vip ${release} forgets the address of a Service that is no LoadBalancer any more, or no longer exists`, async () => {
    const { settle } = await served()
    const changed = await settle((stored) => {
      const { spec, ...rest } = shownBy(stored, release)
      return { ...rest, spec: { ...spec, type: 'ClusterIP' } }
    })
    assert.equal(readService(changed, release), [])
    assert.equal(readService(undefined, release), [])
  })

  for (const [how, change] of Object.entries(beforeDeletion))
    test(`kube-vip ${release} withdraws the address of a Service that was ${how} and is deleted`, async () => {
      const play = await served()
      const { settle, announced, stored } = play
      const { loadBalancerIP = '' } = play.service.spec
      await settle((one) => shownBy(one, release))
      await settle(change)
      assert.equal([announced(release), play.reservationsOf().length], [[loadBalancerIP], 1])
      await settle((one) => ({ ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' } }))
      assert.equal([stored(), announced(release), play.reservationsOf()], [undefined, [], []])
    })

  test(`kube-vip ${release} never meets an empty annotation`, () => {
    assert.equal(ofKubeVip.request(''), {})
    assert.equal(readService(makeService(), release), [])
  })
}

test('kube-vip starts over with a Service whose status has no ports, so only kube-vip writes the status', async () => {
  const { service } = await served(empty())
  assert.equal(
    releases.filter((release) => givesUp(service, release)),
    ['0.6.1', '0.8.10', '1.2.0'],
  )
})

/** The rest of a Service after the software had to let go. */
function afterLettingGo({ metadata, spec, ...rest }: Service): Service {
  const said = { ...metadata.annotations, ...ofKubeVip.withdrawal?.annotations }
  const annotations = Object.fromEntries(
    Object.entries(said).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  )
  const { loadBalancerIP: _, ...without } = spec
  return { ...rest, metadata: { ...metadata, annotations }, spec: without }
}

for (const release of releases) {
  const readsStatus = rulesOf(release).sources.includes('status')
  test(`kube-vip ${release} ${readsStatus ? 'goes by its own status' : 'stops'} when it must let go`, async () => {
    const { service } = await served()
    const { status = {} } = shownBy(service, release)
    const left = afterLettingGo({ ...service, status })
    assert.equal(readService(left, release), readsStatus ? [service.spec.loadBalancerIP] : [])
    // Which is why the status is taken off by us, and a Service that is being deleted goes before its address does.
    assert.equal(readService({ ...left, status: { loadBalancer: {} } }, release), [])
    assert.is(ofKubeVip.withdrawal?.clearsStatus, false)
  })
}

// It would read the status of the other family, and an annotation against that makes kube-vip 1.2 withdraw the address.
test('every release of kube-vip reads the address that we request and no other, whatever its status shows of the family', () =>
  fc.assert(
    fc.property(
      fc
        .constantFrom(
          fc.ipV4(),
          fc.ipV6().map((text) => canonicalIpAddress(text) ?? '::1'),
        )
        // The unspecified address names a family.
        .map((ips) => ips.filter((ip) => !isUnspecified(ip)))
        .chain((ips) => fc.tuple(ips, fc.array(ips, { maxLength: 2 }))),
      fc.constantFrom(...releases),
      ([given, shown], release) => {
        const status = { loadBalancer: { ingress: shown.map((ip) => ({ ip })) } }
        assert.equal(readService(makeService({ loadBalancerIP: given, status }), release), [given])
      },
    ),
  ))

test.run()
