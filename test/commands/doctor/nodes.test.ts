import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { BGPClusterConfig } from '../../../announcers/cilium/resources.ts'
import type { KubeObject, Lease, Node } from '../../../kube/objects.ts'
import type { Workload } from '../../../kube/workloads.ts'
import type { Machine } from '../../../clouds/ports/machines.ts'
import type { Peer, SeenSessions } from '../../../clouds/ports/peering.ts'
import type { SessionState } from '../../../inspect/facts.ts'
import { bgpPeers, bgpSessions, oneSpeaker } from '../../../commands/doctor/checks/bgp.ts'
import { nodeMachines, providerIds, sharedMachines, uninitializedNodes } from '../../../commands/doctor/checks/nodes.ts'
import {
  guardianLease,
  leader,
  otherCloudControllers,
  runningPredecessor,
} from '../../../commands/doctor/checks/other-programs.ts'
import { makeRecord } from '../../builders.ts'
import { judge, lines, now } from './context.ts'
import { remedyText } from '../../../lib/remedy.ts'

const id = '3b241101-e2bb-4255-8caf-4136c566a962'
const node = (providerID?: string, more: Partial<Node['spec']> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a' },
  spec: { ...(providerID !== undefined && { providerID }), ...more },
})

test('software beside that of the setting that speaks with the same routers', () => {
  const router = { peerAddress: '169.254.255.1' } as Peer
  const peers = new Map([['machine', [router]]])
  const bgpPeer = (peerAddress: string): KubeObject & { spec: object } => ({
    apiVersion: 'metallb.io/v1beta2',
    kind: 'BGPPeer',
    metadata: { namespace: 'm', name: 'p' },
    spec: { peerAddress },
  })
  const session = (peerAddress: string): BGPClusterConfig => ({
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumBGPClusterConfig',
    metadata: { name: 'fabric' },
    spec: {
      nodeSelector: {},
      bgpInstances: [
        { name: 'x', localASN: 1, peers: [{ name: 'r', peerAddress, peerASN: 2, peerConfigRef: { name: 'x' } }] },
      ],
    },
  })
  const of = (setting: string, metallb: KubeObject[], ciliumSessions: BGPClusterConfig[]) =>
    lines(oneSpeaker, { peers, metallb, ciliumSessions }, { env: { METAL_LOAD_BALANCER: setting } })[0] ?? ''
  const [shared, other] = ['169.254.255.1', '192.0.2.1']
  assert.match(of('cilium:///', [bgpPeer(shared)], []), /^error: BGPPeer m\/p of MetalLB has a session with router 169/)
  assert.match(of('metallb:///', [], [session(shared)]), /^error: CiliumBGPClusterConfig fabric has a session/)
  assert.match(of('kube-vip://', [bgpPeer(shared)], []), /^error/)
  assert.match(of('cilium:///', [bgpPeer(other)], [session(shared)]), /^ok/)
  assert.match(of('metallb:///', [bgpPeer(shared)], [session(other)]), /^ok/)
})

test('a providerID of this cloud, of another, none, and one that names no machine', () => {
  const of = (providerID?: string) => lines(providerIds, { nodes: [node(providerID)] })[0] ?? ''
  assert.match(of(`equinixmetal://${id}`), /^ok/)
  assert.match(of(`packet://${id}`), /^ok/)
  assert.is(of(), 'error: node a has no providerID')
  assert.match(
    of('cherryservers://1'),
    /^error: node a has the providerID "cherryservers:\/\/1", where equinixmetal:\/\//,
  )
  assert.match(of('equinixmetal://x y'), /^error/)
})

test('a node that waits, and one whose machine no longer exists', () => {
  const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' as const }
  assert.match(
    lines(uninitializedNodes, { nodes: [node(undefined, { taints: [taint] })] })[0] ?? '',
    /^error: node a has the taint/,
  )
  assert.match(lines(uninitializedNodes, { nodes: [node()] })[0] ?? '', /^ok/)
  const machine: Machine = {
    id,
    name: 'a',
    state: 'on',
    type: 't',
    region: 'r',
    zone: 'z',
    addresses: [],
    privateNetwork: undefined,
  }
  const of = (machines: Machine[]) => lines(nodeMachines, { nodes: [node(`equinixmetal://${id}`)], machines })[0]
  assert.match(of([machine]) ?? '', /^ok/)
  assert.is(of([]), `warning: node a: machine ${id} is not in the project`)
})

test('a node whose machine is not in the project is never to be deleted by hand', () => {
  const providerID = `equinixmetal://${id}`
  const ready: Node = { ...node(providerID), status: { conditions: [{ type: 'Ready', status: 'True' }] } }
  for (const [one, why, fix] of [
    [
      ready,
      /the node is ready, so its machine still exists/,
      /look for machine .* in your other projects .* project p$/,
    ],
    [node(providerID), /`serve` deletes the node once that is certain/, /^kubectl describe node a /],
  ] as const) {
    const [finding] = judge(nodeMachines, { nodes: [one], machines: [] })
    assert.match(finding?.why ?? '', why)
    assert.match(remedyText(finding?.fix ?? ''), fix)
    assert.not.match(remedyText(finding?.fix ?? ''), 'delete node')
  }
})

test('two nodes with the machine of one, and nodes of another project', () => {
  const named = (name: string, providerID: string): Node => ({ ...node(providerID), metadata: { name } })
  const other = '3b241101-e2bb-4255-8caf-4136c566a963'
  const both = [named('a', `equinixmetal://${id}`), named('b', `packet://${id}`), named('c', `equinixmetal://${other}`)]
  assert.equal(lines(sharedMachines, { nodes: both, machines: [] }), [
    `error: nodes a, b have the providerID of the same machine, ${id}`,
  ])
  assert.match(lines(sharedMachines, { nodes: both.slice(1), machines: [] })[0] ?? '', /^ok/)
  assert.equal(lines(nodeMachines, { nodes: both, machines: [] }), [
    'error: none of the machines of 3 nodes is in project p',
  ])
})

const peer: Peer = {
  localAsn: 65_000,
  peerAsn: 65_530,
  peerAddress: '169.254.255.1',
  sourceAddress: '10.0.0.2',
  isMultihop: true,
  password: undefined,
}

test('two peers are enough, one is a warning, none an error; without BGP nobody asks', () => {
  const env = { METAL_LOAD_BALANCER: 'empty://' }
  const nodes = [node(`equinixmetal://${id}`)]
  const peers = (count: number) => new Map([[id, Array.from({ length: count }, () => peer)]])
  const of = (count: number) => judge(bgpPeers, { nodes, peers: peers(count) }, { env })[0]?.level
  assert.equal([of(2), of(1), of(0)], ['ok', 'warning', 'error'])
  assert.equal(judge(bgpPeers, { nodes, peers: new Map() }), [])
})

test('a node that --bgp-node-selector leaves out needs neither peers nor sessions', () => {
  const nodes = [node(`equinixmetal://${id}`)]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const seenSessions = new Map([[id, { up: 1, down: 1, seenAt: '2026-02-01T10:00:00Z' }]])
  const of = (selector: string) => {
    const given = { env: { METAL_LOAD_BALANCER: 'metallb:///m' }, flags: { '--bgp-node-selector': selector } }
    const facts = { nodes, peers: new Map([[id, []]]), records, sessions: [], seenSessions }
    return [bgpPeers, bgpSessions].map((check) => judge(check, facts, given)[0]?.level)
  }
  assert.equal(of('edge!=true'), ['error', 'warning'])
  assert.equal(of('edge=true'), ['ok', 'ok'])
})

test('sessions that FRR-K8s, or else the routers of the provider, see as down', () => {
  const env = { METAL_LOAD_BALANCER: 'metallb:///m' }
  const nodes = [node(`equinixmetal://${id}`)]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const of = (sessions: SessionState[], seen?: SeenSessions, held = records) =>
    judge(bgpSessions, { nodes, records: held, sessions, seenSessions: new Map(seen && [[id, seen]]) }, { env })
  const text = (...given: Parameters<typeof of>) => of(...given).map(({ level, what }) => `${level}: ${what}`)
  const session = (bgpStatus: string): SessionState => ({
    apiVersion: 'frrk8s.metallb.io/v1beta1',
    kind: 'BGPSessionState',
    metadata: { name: 's', namespace: 'm' },
    status: { node: 'a', peer: '169.254.255.1', bgpStatus },
  })
  const sessions = [session('Established'), session('Active')]
  const half = { up: 1, down: 1, seenAt: '2026-02-01T10:00:00Z' }
  const ok = ['ok: no BGP session is reported as down']
  assert.equal(text(sessions, half), ['warning: node a: the BGP session with 169.254.255.1 is Active'])
  assert.equal(text([session('Established')], half), ok, 'FRR-K8s knows it better than the provider')
  assert.equal(text([], half), [
    'warning: node a: 1 of 2 BGP sessions are down at Equinix Metal, as it saw them 2026-02-01T10:00:00Z',
  ])
  assert.equal(text([], { ...half, up: 2, down: 0 }), ok)
  assert.equal(text(sessions, half, []), ok, 'without an address to announce, MetalLB has no sessions')
  const [unseen, ...others] = of([], { up: 0, down: 0, seenAt: undefined })
  assert.equal(others, [], 'it is said once')
  assert.is(unseen?.level, 'manual')
  assert.match(unseen?.what ?? '', 'nothing reports here which BGP sessions are up')
  assert.match(remedyText(unseen?.fix ?? ''), 'kubectl get pods -n m -o name | grep speaker')
})

test('a predecessor is found by its image, unless it is scaled to 0', () => {
  const workload = (image: string, replicas?: number): Workload => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'ccm', namespace: 'kube-system' },
    spec: { ...(replicas !== undefined && { replicas }), template: { spec: { containers: [{ image }] } } },
  })
  const of = (image: string, replicas?: number) =>
    judge(runningPredecessor, { workloads: [workload(image, replicas)] })[0]?.level
  assert.is(of('quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1'), 'error')
  assert.is(of('packethost/packet-ccm:v1.1.0', 1), 'error')
  assert.is(of('ghcr.io/cherryservers/cloud-provider-cherry@sha256:ab'), 'error')
  assert.is(of('ghcr.io/cherryservers/cloud-provider-cherry:v1', 0), 'ok')
  assert.is(of('registry.example/my-packet-ccm-dashboard:1'), 'ok')
  const [found] = judge(runningPredecessor, { workloads: [workload('packethost/packet-ccm')] })
  assert.is(remedyText(found?.fix ?? ''), 'kubectl scale deployment -n kube-system ccm --replicas=0')
})

test('another cloud controller manager is found by its image, and by the addresses that it wrote', () => {
  const image = 'docker.io/hetznercloud/hcloud-cloud-controller-manager:v1.30.0'
  const metadata = { name: 'hccm', namespace: 'kube-system' }
  const spec = { template: { spec: { containers: [{ image }] } } }
  const workload: Workload = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }
  const flags = { '--controllers': '*,-cloud-node,-cloud-node-lifecycle' }
  const written = (manager: string): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'a',
      managedFields: [{ manager, subresource: 'status', fieldsV1: { 'f:status': { 'f:addresses': {} } } }],
    },
    spec: {},
  })
  const [found] = judge(otherCloudControllers, { workloads: [workload], nodes: [] })
  assert.equal([found?.level, found?.what.includes('write nodes and Services')], ['error', true])
  assert.match(remedyText(found?.fix ?? ''), '--controllers=*,-cloud-node,-cloud-node-lifecycle')
  const [onlyServices] = judge(otherCloudControllers, { workloads: [workload], nodes: [] }, { flags })
  assert.match(onlyServices?.what ?? '', 'write Services')
  for (const [manager, level] of [
    ['hcloud-cloud-controller-manager', 'warning'],
    ['eip-admission', 'ok'],
    ['kubelet', 'ok'],
  ] as const) {
    assert.is(judge(otherCloudControllers, { workloads: [], nodes: [written(manager)] })[0]?.level, level, manager)
    assert.is(judge(otherCloudControllers, { workloads: [], nodes: [written(manager)] }, { flags })[0]?.level, 'ok')
  }
})

test('who leads', () => {
  const lease = (holderIdentity: string, ageS: number, name = 'cloud-controller-manager'): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-system' },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new Date(now.getTime() - ageS * 1000).toISOString() },
  })
  const at = (clockAheadMs: number) => ({ server: { version: 'v1.36.3', major: 1, minor: 36, clockAheadMs } })
  const of = (...leases: Lease[]) => lines(leader, { leases, ...at(0) })[0] ?? ''
  assert.match(of(lease('pod-1_0123456789ab', 5)), /^ok/)
  assert.match(of(lease('pod-1_0123456789ab', 300)), /^error: no process renews/)
  assert.match(of(lease('', 0)), /^error: no process renews/)
  const skewed = lease('pod-1_0123456789ab', 3_600)
  assert.match(lines(leader, { leases: [skewed], ...at(-3_600_000) })[0] ?? '', /^ok/)
  assert.match(of(), /^error: the lease kube-system\/cloud-controller-manager does not exist/)
  assert.match(of(lease('n_3b241101-e2bb-4255-8caf-4136c566a962', 5)), /^error: .* which is not eip-admission/)
  assert.equal(judge(leader, { leases: [], ...at(0) }, { flags: { '--leader-elect': 'false' } }), [])
  const env = { METAL_EIP_TAG: 'cp' }
  const balancer = { METAL_LOAD_BALANCER_ID: 'lb-1', METAL_LOAD_BALANCER: 'emlb:///da' }
  assert.is(judge(guardianLease, { leases: [], ...at(0) }, { env })[0]?.level, 'error')
  assert.is(judge(guardianLease, { leases: [], ...at(0) }, { env: balancer })[0]?.level, 'error')
  assert.equal(judge(guardianLease, { leases: [], ...at(0) }), [])
  assert.is(
    judge(guardianLease, { leases: [lease('a_1', 2, 'eip-admission-control-plane')], ...at(0) }, { env })[0]?.level,
    'ok',
  )
})

test.run()
