import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../../kube/objects.ts'
import type { Definition, Workload } from '../../../server/doctor/facts.ts'
import { kubeVip, metallbDefinitions, metallbPrograms } from '../../../server/doctor/checks/announcers.ts'
import {
  announcedAddresses,
  metallbReports,
  overlappingPools,
  silentAnnouncer,
} from '../../../server/doctor/checks/announcing.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { judge, lines } from './context.ts'

const crds = { env: { METAL_LOAD_BALANCER: 'metallb:///m?crdConfiguration=true' } }
const object = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind,
  metadata: { name, namespace: 'm' },
  ...more,
})
const pool = (name: string, ...addresses: string[]) => object('IPAddressPool', name, { spec: { addresses } })

test('pools that share addresses, in every form of a range', () => {
  const of = (one: string, other: string) =>
    judge(overlappingPools, { metallb: [pool('a', one), pool('b', other)] }, crds)[0]?.level
  for (const [one, other, level] of [
    ['192.0.2.1/32', '192.0.2.2/32', 'ok'],
    ['192.0.2.1/32', '192.0.2.0/24', 'error'],
    ['192.0.2.0/24', '192.0.2.1/32', 'error'],
    ['192.0.2.128/24', '192.0.1.0-192.0.2.5', 'error'],
    ['192.0.2.1-192.0.2.9', '192.0.2.9-192.0.2.20', 'error'],
    ['192.0.2.1-192.0.2.9', '192.0.2.10-192.0.2.20', 'ok'],
    ['192.0.2.1-192.0.2.99', '192.0.2.10-192.0.2.20', 'error'],
    ['2001:db8::/64', '2001:db8::5/128', 'error'],
    ['::/0', '192.0.2.1/32', 'ok'],
    ['nonsense', '192.0.2.1/32', 'ok'],
  ] as const)
    assert.is(of(one, other), level, `${one} and ${other}`)
  assert.equal(judge(overlappingPools, { metallb: [] }), [], 'without MetalLB')
})

test('an address that no pool has, that nobody advertises, without peers', () => {
  const services = [makeService({ creationTimestamp: '2026-02-01T11:00:00Z' })]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const definitions: Definition[] = [
    { apiVersion: 'a', kind: 'CustomResourceDefinition', metadata: { name: 'bgppeers.metallb.io' } },
  ]
  const of = (...metallb: KubeObject[]) => lines(announcedAddresses, { services, records, metallb, definitions }, crds)
  const peer = object('BGPPeer', 'p', { spec: { myASN: 1 } })
  const advertisement = (...ipAddressPools: string[]) => object('BGPAdvertisement', 'adv', { spec: { ipAddressPools } })
  const [web, other] = [pool('web', '192.0.2.1/32'), pool('other', '192.0.2.2/32')]
  assert.match(of(peer, web, advertisement('web'))[0] ?? '', /^ok/)
  assert.match(of(peer, web, advertisement())[0] ?? '', /^ok/)
  assert.match(of(web, advertisement('web'))[0] ?? '', /^error: MetalLB has no BGPPeer, and 1 addresses/)
  assert.match(of(peer, other, advertisement())[0] ?? '', /^error: address 192.0.2.1 of Service default\/web is in no/)
  assert.match(of(peer, web, advertisement('other'))[0] ?? '', /no BGPAdvertisement selects its pool web$/)
  assert.match(lines(announcedAddresses, { services, records, metallb: [], definitions: [] }, crds)[0] ?? '', /^ok/)
  const empty = { env: { METAL_LOAD_BALANCER: 'empty://' } }
  assert.match(
    lines(silentAnnouncer, { services, records }, empty)[0] ?? '',
    /^warning: Service default\/web holds 192.0.2.1, but/,
  )
  assert.equal(lines(silentAnnouncer, { services, records }), [])
})

test('what MetalLB reports about its configuration', () => {
  const state = (result: string) =>
    object('ConfigurationState', 's', { status: { result, errorSummary: 'pools overlap' } })
  const of = (result: string) => lines(metallbReports, { metallb: [state(result)] }, crds)[0] ?? ''
  assert.match(of('Valid'), /^ok/)
  assert.is(of('Invalid'), 'error: ConfigurationState m/s: pools overlap')
})

test('definitions whose objects an API server from 1.36 on refuses', () => {
  const definition = (format: string): Definition => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'bgppeers.metallb.io' },
    spec: {
      versions: [
        {
          name: 'v1beta2',
          served: true,
          schema: {
            openAPIV3Schema: {
              properties: { spec: { properties: { peerASN: { format, maximum: 4294967295 }, localPref: { format } } } },
            },
          },
        },
      ],
    },
  })
  const of = (minor: number, format: string) =>
    lines(metallbDefinitions, {
      definitions: [definition(format)],
      server: { version: `v1.${minor}.0`, major: 1, minor, clockAheadMs: 0 },
    })[0] ?? ''
  assert.is(
    of(36, 'int32'),
    'error: CustomResourceDefinition bgppeers.metallb.io: v1beta2 spec.peerASN has format int32 and a maximum beyond it',
  )
  assert.match(of(35, 'int32'), /^ok/)
  assert.match(of(36, 'int64'), /^ok/)
})

const daemonSet = (image: string, env: Record<string, string> = {}, numberReady = 2): Workload => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'd', namespace: 'm' },
  spec: {
    template: { spec: { containers: [{ image, env: Object.entries(env).map(([name, value]) => ({ name, value })) }] } },
  },
  status: { desiredNumberScheduled: 2, numberReady },
})

test('MetalLB that does not run, is not ready, or reads another configuration', () => {
  const of = (workloads: Workload[], given = crds) => lines(metallbPrograms, { workloads }, given)[0] ?? ''
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.16.1')]), /^ok/)
  assert.match(of([]), /^error: no Deployment or DaemonSet runs an image of MetalLB/)
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.16.1', {}, 0)]), /has 0 of 2 pods ready$/)
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.12.1')]), /which reads a ConfigMap only$/)
  const document = { env: { METAL_LOAD_BALANCER: 'metallb:///m/config?crdConfiguration=false' } }
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.16.1')], document), /which reads custom resources only$/)
})

test('the settings of kube-vip', () => {
  const given = { env: { METAL_LOAD_BALANCER: 'kube-vip://' } }
  const of = (...workloads: Workload[]) => lines(kubeVip, { workloads }, given)
  const env = { svc_enable: 'true', bgp_enable: 'true', annotation: 'metal.equinix.com' }
  const image = 'ghcr.io/kube-vip/kube-vip'
  assert.match(of(daemonSet(`${image}:v1.2.3`, env))[0] ?? '', /^ok/)
  assert.match(of(daemonSet(`${image}:v0.8.10`, env))[0] ?? '', /^ok/)
  assert.match(of(daemonSet(`${image}:v1.1.2`, env))[0] ?? '', /^error: DaemonSet m\/d runs/)
  assert.equal(of(daemonSet(`${image}:v1.2.3`, { ...env, bgp_enable: 'false' })), [
    'warning: DaemonSet m/d: bgp_enable is "false"',
  ])
  assert.match(of()[0] ?? '', /^error: no DaemonSet/)
})

test.run()
