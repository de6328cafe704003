// An address goes back to the cloud when nothing of ours announces it any more. What people configured does not count.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { calicoObjects } from '../../announcers/calico/objects.ts'
import { ciliumObjects } from '../../announcers/cilium/objects.ts'
import type { KubeObject } from '../../kube/objects.ts'

const address = '198.51.100.7'
const own = `${address}/32`
const labels = { 'app.kubernetes.io/managed-by': 'eip-admission' }

function listOf({ listed, ours }: { listed: string[]; ours: string[] }): KubeObject {
  const annotations = { 'eip-admission.dev/announced-addresses': ours.join() }
  const metadata = { name: 'default', ...(ours.length > 0 && { annotations }) }
  const spec = { serviceLoadBalancerIPs: listed.map((cidr) => ({ cidr })) }
  return { apiVersion: 'projectcalico.org/v3', kind: 'BGPConfiguration', metadata, spec } as KubeObject
}

function poolOf(cidr: string, isOurs: boolean): KubeObject {
  const metadata = { name: 'pool', ...(isOurs && { labels }) }
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumLoadBalancerIPPool',
    metadata,
    spec: { blocks: [{ cidr }] },
  } as never
}

const calico = calicoObjects({ namespace: 'calico-system' })
const cilium = ciliumObjects({ secretsNamespace: 'kube-system' })
const cases: { name: string; configuration: typeof calico; object: KubeObject; is: boolean }[] = [
  {
    name: 'our entry in the list of Calico',
    configuration: calico,
    object: listOf({ listed: ['10.0.0.1/32', own], ours: [own] }),
    is: true,
  },
  {
    name: 'an entry that a person wrote there before us',
    configuration: calico,
    object: listOf({ listed: [own, '198.51.100.8/32'], ours: ['198.51.100.8/32'] }),
    is: false,
  },
  {
    name: 'our entry that a person took out of it',
    configuration: calico,
    object: listOf({ listed: ['10.0.0.1/32'], ours: [own] }),
    is: false,
  },
  { name: 'our pool at Cilium', configuration: cilium, object: poolOf(own, true), is: true },
  { name: 'a pool of a person there', configuration: cilium, object: poolOf('198.51.100.0/24', false), is: false },
]
for (const { name, configuration, object, is } of cases) {
  test(`${name} ${is ? 'keeps' : 'does not keep'} an address from its release`, () => {
    assert.is(configuration.hasAddress(object, address), is)
  })
}

test.run()
