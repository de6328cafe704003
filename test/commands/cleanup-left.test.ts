import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type LeftBehind, readAnnouncing, whatIsLeft } from '../../commands/cleanup-left.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { aPeer, aPool, anAdvertisement, left } from '../announcers/cluster.ts'
import { makeService } from '../builders.ts'

const labels = { 'app.kubernetes.io/managed-by': 'eip-admission' }
const nothing: LeftBehind = { announcing: [], unread: [], services: [], nodes: [], mirrorSlices: [] }

function aNode(name: string, manager: string, annotations: string[]): KubeObject {
  const fields = Object.fromEntries(annotations.map((annotation) => [`f:${annotation}`, {}]))
  const managedFields = [{ manager, fieldsV1: { 'f:metadata': { 'f:annotations': { '.': {}, ...fields } } } }]
  const metadata = { name, managedFields }
  return { apiVersion: 'v1', kind: 'Node', metadata }
}

test('nothing is said where nothing of ours stays', () => {
  const nodes = [aNode('node-a', 'kubelet', ['example.com/theirs'])]
  assert.is(whatIsLeft({ ...nothing, announcing: Object.values(left), services: [makeService()], nodes }), '')
})

test("MetalLB's objects that we wrote or took over are counted in each namespace, and the command removes just these", () => {
  const pool = aPool({ name: 'default.web', labels, addresses: ['198.51.100.7/32'] })
  const elsewhere = { ...pool, metadata: { ...pool.metadata, namespace: 'old' } }
  const peers = ['node-a-0', 'node-a-1'].map((name) =>
    aPeer({ name, labels, myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1' }),
  )
  const announcing = [pool, ...peers, anAdvertisement({ name: 'equinix-metal-bgp-adv', labels }), elsewhere]
  const [here = '', there = ''] = whatIsLeft({ ...nothing, announcing }).split('\n')
  assert.match(
    here,
    'continues announcing: 1 BGPAdvertisement, 1 IPAddressPool, 2 BGPPeer stay in namespace metallb-system',
  )
  assert.match(
    here,
    '`kubectl delete bgpadvertisements.metallb.io,ipaddresspools.metallb.io,bgppeers.metallb.io -n metallb-system -l app.kubernetes.io/managed-by=eip-admission`',
  )
  assert.match(there, '1 IPAddressPool stay in namespace old')
})

/** An object of the cluster as a whole; one with this name or label is ours. */
function made(apiVersion: string, kind: string, { name, ...more }: { name: string; spec?: object }): KubeObject {
  return { apiVersion, kind, metadata: { name, labels: name.startsWith('eip-admission') ? labels : {} }, ...more }
}

test('what Cilium continues announcing is counted, and the commands remove just that, with the password', () => {
  const config = made('cilium.io/v2', 'CiliumBGPPeerConfig', { name: 'eip-admission-multihop' })
  config.metadata.annotations = { 'eip-admission.dev/bgp-secrets-namespace': 'cilium-secrets' }
  const announcing = [
    config,
    ...['node-a', 'node-b'].map((node) =>
      made('cilium.io/v2', 'CiliumBGPClusterConfig', { name: `eip-admission-${node}` }),
    ),
    made('cilium.io/v2', 'CiliumBGPClusterConfig', { name: 'fabric' }),
    made('cilium.io/v2', 'CiliumLoadBalancerIPPool', { name: 'lan' }),
  ]
  const text = whatIsLeft({ ...nothing, announcing })
  assert.match(text, 'Cilium continues announcing: 1 CiliumBGPPeerConfig, 2 CiliumBGPClusterConfig stay. To end')
  assert.match(
    text,
    /`kubectl delete .*ciliumloadbalancerippools.cilium.io -l app.kubernetes.io\/managed-by=eip-admission`/,
  )
  for (const namespace of ['cilium-secrets', 'kube-system'])
    assert.match(text, `\`kubectl delete secret eip-admission-bgp -n ${namespace} --ignore-not-found\``)
})

test('so is what Calico continues announcing, with our entries in a list that people share', () => {
  const calico = 'projectcalico.org/v3'
  const peer = made(calico, 'BGPPeer', { name: 'eip-admission-node-a-169.254.255.1' })
  peer.metadata.annotations = { 'eip-admission.dev/calico-namespace': 'calico-system' }
  const listOf = (...cidrs: string[]) => {
    const spec = { serviceLoadBalancerIPs: cidrs.map((cidr) => ({ cidr })) }
    const list = made(calico, 'BGPConfiguration', { name: 'default', spec })
    list.metadata.annotations = { 'eip-admission.dev/announced-addresses': '198.51.100.7/32' }
    return list
  }
  const shared = listOf('10.0.0.1/32', '198.51.100.7/32')
  const [objects = '', entries = '', ...others] = whatIsLeft({ ...nothing, announcing: [peer, shared] })
    .trim()
    .split('\n')
  assert.match(objects, 'Calico continues announcing: 1 BGPPeer stay. To end')
  assert.match(objects, /`kubectl delete bgppeers.projectcalico.org,bgpfilters.projectcalico.org -l [^`]*`/)
  assert.match(objects, '`kubectl delete secret eip-admission-bgp -n calico-system --ignore-not-found`')
  assert.match(entries, /of BGPConfiguration default has 198.51.100.7\/32\..* `kubectl edit bgpconfigurations/)
  assert.equal(others, [])
  const created = listOf('198.51.100.7/32')
  created.metadata.labels = labels
  assert.match(
    whatIsLeft({ ...nothing, announcing: [created] }),
    /^Calico continues .*: 1 BGPConfiguration stay.*`kubectl delete bgpconfigurations.projectcalico.org default`\.\n$/,
  )
  const foreign = made(calico, 'BGPPeer', { name: 'tor', spec: {} })
  assert.is(
    whatIsLeft({ ...nothing, announcing: [foreign, made(calico, 'BGPConfiguration', { name: 'default' })] }),
    '',
  )
})

test('kinds whose API server does not answer are named in one line, and hide nothing of the others', async () => {
  const pool = aPool({ name: 'default.web', labels, addresses: ['198.51.100.7/32'] })
  const list: KubeClient['list'] = async ({ apiVersion, kind }) => {
    if (apiVersion.startsWith('projectcalico.org'))
      throw new KubeError(`list ${kind}: no endpoints`, { status: 503, reason: 'ServiceUnavailable' })
    return { metadata: {}, items: kind === pool.kind ? [pool] : [] } as never
  }
  const [metallb = '', calico = '', ...others] = whatIsLeft({
    ...nothing,
    ...(await readAnnouncing({ list } as unknown as KubeClient)),
  })
    .trim()
    .split('\n')
  assert.match(metallb, 'MetalLB continues announcing: 1 IPAddressPool stay')
  assert.match(
    calico,
    /^What remains of bgppeers\.projectcalico\.org,bgpfilters\.projectcalico\.org,bgpconfigurations\.projectcalico\.org is not shown: list BGPPeer: no endpoints\. When their API answers, run `eip-admission cleanup` again, as an administrator\.$/,
  )
  assert.equal(others, [])
  const broken = { list: () => Promise.reject(new TypeError('ours')) } as unknown as KubeClient
  assert.match(String(await readAnnouncing(broken).catch((error: unknown) => error)), 'ours')
})

test('the slices of the mirror Service are counted, and the command removes just these', () => {
  const metadata = { name: 'kube-external-0', namespace: 'kube-system' }
  const text = whatIsLeft({
    ...nothing,
    mirrorSlices: [{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata }],
  })
  assert.match(text, 'keeps its last endpoints: 1 EndpointSlices stay in namespace kube-system')
  assert.match(
    text,
    '`kubectl delete endpointslices -n kube-system -l endpointslice.kubernetes.io/managed-by=eip-admission.dev`',
  )
})

test('annotations of Services and nodes are counted, and named in the command that removes them', () => {
  const annotations = { 'eip-admission.dev/address': '198.51.100.7' }
  const nodes = [
    aNode('node-a', 'eip-admission-peering', ['example.com/bgp-peers-0-peer-ip', 'example.com/bgp-peers-0-node-asn']),
    aNode('node-b', 'eip-admission-peering', []),
  ]
  const [ofServices = '', ofNodes = ''] = whatIsLeft({
    ...nothing,
    services: [makeService({ annotations }), makeService()],
    nodes,
  }).split('\n')
  assert.match(ofServices, 'The annotation eip-admission.dev/address stays on 1 Service:')
  assert.match(ofNodes, 'stay on 1 node:')
  assert.match(
    ofNodes,
    '`kubectl annotate nodes --all example.com/bgp-peers-0-node-asn- example.com/bgp-peers-0-peer-ip-`',
  )
})

test.run()
