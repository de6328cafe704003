import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type LeftBehind, whatIsLeft } from '../../commands/cleanup-left.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { aPeer, aPool, anAdvertisement, left } from '../announcers/cluster.ts'
import { makeService } from '../builders.ts'

const labels = { 'app.kubernetes.io/managed-by': 'eip-admission' }
const nothing: LeftBehind = { metallb: [], services: [], nodes: [], mirrorSlices: [] }

function aNode(name: string, manager: string, annotations: string[]): KubeObject {
  const fields = Object.fromEntries(annotations.map((annotation) => [`f:${annotation}`, {}]))
  const managedFields = [{ manager, fieldsV1: { 'f:metadata': { 'f:annotations': { '.': {}, ...fields } } } }]
  const metadata = { name, managedFields }
  return { apiVersion: 'v1', kind: 'Node', metadata }
}

test('nothing is said where nothing of ours stays', () => {
  const nodes = [aNode('node-a', 'kubelet', ['example.com/theirs'])]
  assert.is(whatIsLeft({ ...nothing, metallb: Object.values(left), services: [makeService()], nodes }), '')
})

test("MetalLB's objects that we wrote or took over are counted in each namespace, and the command removes just these", () => {
  const pool = aPool({ name: 'default.web', labels, addresses: ['198.51.100.7/32'] })
  const elsewhere = { ...pool, metadata: { ...pool.metadata, namespace: 'old' } }
  const peers = ['node-a-0', 'node-a-1'].map((name) =>
    aPeer({ name, labels, myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1' }),
  )
  const metallb = [pool, ...peers, anAdvertisement({ name: 'equinix-metal-bgp-adv', labels }), elsewhere]
  const [here = '', there = ''] = whatIsLeft({ ...nothing, metallb }).split('\n')
  assert.match(
    here,
    'goes on announcing: 1 BGPAdvertisement, 1 IPAddressPool, 2 BGPPeer stay in namespace metallb-system',
  )
  assert.match(
    here,
    '`kubectl delete bgpadvertisements,ipaddresspools,bgppeers -n metallb-system -l app.kubernetes.io/managed-by=eip-admission`',
  )
  assert.match(there, '1 IPAddressPool stay in namespace old')
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
  assert.match(ofServices, 'The annotation eip-admission.dev/address stays on 1 Services')
  assert.match(ofNodes, 'stay on 1 nodes')
  assert.match(
    ofNodes,
    '`kubectl annotate nodes --all example.com/bgp-peers-0-node-asn- example.com/bgp-peers-0-peer-ip-`',
  )
})

test.run()
