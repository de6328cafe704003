// The stand-ins write for MetalLB what the fixtures say, and after undo they have nothing to write.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { foundObjects, predecessorConfiguration, wantedObjects } from '../../announcers/metallb/predecessor/objects.ts'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from '../../announcers/metallb/resources.ts'
import { dialects } from '../../clouds/dialects.ts'
import { type ObjectChange, planChanges } from '../../controllers/announcing/plan-changes.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { KubeObject, Node, Service } from '../../kube/objects.ts'
import { type Resource, secrets } from '../../kube/resource.ts'
import { marks } from '../announcers/cluster.ts'
import { type Predecessor, objectsOf, peersOf } from '../announcers/predecessors.ts'
import { makeNode } from '../announcers/states.ts'
import { apiServer } from '../fakes/api-server.ts'
import { mergePatched } from '../fakes/merge-patch.ts'
import { predecessorMetallb } from './stand-in/metallb.ts'

const routers = ['169.254.255.1', '169.254.255.2']
const facts = { routers, localAsn: 65000, peerAsn: 65530, password: 's3cret' }
const nodeA = { name: 'node-a', address: '10.0.0.5' }
const nodeB = { name: 'node-b', address: '10.0.0.6' }
const nodeC = { name: 'node-c', address: '10.0.0.7' }
const web = { name: 'web', address: '198.51.100.7' }
const api = { name: 'api', address: '198.51.100.8' }
const shop = { name: 'shop', address: '198.51.100.9' }
const mail = { name: 'mail', address: '198.51.100.10' }

/** With the Secret of the password, which is ours alone. */
const kinds = [bgpAdvertisements, ipAddressPools, bgpPeers, secrets]

type Machine = typeof nodeA
type Served = typeof web
type Stored = KubeObject & { spec?: object }

/** A cluster with one version of BGPPeers, as MetalLB stores them. */
function cluster() {
  const server = apiServer()
  const asStored = <T extends KubeObject>(resource: Resource<T>): Resource<T> =>
    resource.kind === 'BGPPeer' ? { ...resource, apiVersion: 'metallb.io/v1beta2' } : resource
  const { client } = server
  const translating: KubeClient = {
    ...client,
    get: (resource, ...more) => client.get(asStored(resource), ...more),
    list: (resource, ...more) => client.list(asStored(resource), ...more),
    create: (resource, object, ...more) => {
      const { apiVersion } = asStored(resource)
      return client.create(asStored(resource), { ...object, apiVersion }, ...more)
    },
    patch: (resource, ...more) => client.patch(asStored(resource), ...more),
    remove: (resource, ...more) => client.remove(asStored(resource), ...more),
  }
  const all = (): Stored[] => kinds.flatMap((one) => server.stored<Stored>(one as never))
  /** Carries out our changes. */
  const carryOut = (changes: ObjectChange[]) => {
    for (const change of changes) {
      const object = 'remove' in change ? change.remove : change.write.object
      const resource = kinds.find(({ kind }) => kind === object.kind)
      if (!resource) continue
      const { namespace, name } = object.metadata
      if ('remove' in change) server.drop(resource, { namespace, name })
      else server.put(resource as never, mergePatched(change.stored ?? {}, object) as never)
    }
  }
  return { server, client: translating, all, carryOut }
}

/** The service controller of a predecessor with each Service, as often as it looks at them. */
async function serve(
  { client }: ReturnType<typeof cluster>,
  predecessor: Predecessor,
  { nodes, services }: { nodes: Machine[]; services: Served[] },
): Promise<void> {
  const metallb = predecessorMetallb(client, predecessor)
  const { password, ...others } = facts
  const given = predecessor.startsWith('CPEM') ? { ...others, password } : others
  for (const { name, address } of services) {
    await metallb.addPool({ namespace: 'default', name }, address)
    await metallb.updatePeers(peersOf(predecessor, { ...given, nodes }), { namespace: 'default', name })
  }
}

function plain(objects: Stored[]) {
  const rows = objects.map(
    ({ kind, metadata: { name, labels }, spec }) => [`${kind} ${name}`, { labels, spec }] as const,
  )
  return Object.fromEntries(rows.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function stateOf({ nodes, services }: { nodes: Machine[]; services: Served[] }, isCherry: boolean): Announcements {
  return {
    addresses: services.map(({ name, address }) => ({ address, services: [`default/${name}`] })),
    nodes: nodes.map(({ name, address }) =>
      makeNode(name, { sourceAddress: address, ...(!isCherry && { password: facts.password }) }),
    ),
  }
}

const known: Predecessor[] = ['CPEM 3.8', 'Cherry main', 'Cherry 1.35.2', 'Cherry main for FRR']

for (const predecessor of known) {
  const isCherry = predecessor.startsWith('Cherry')

  test(`${predecessor}: its objects are those of the fixture once it has looked at each Service twice`, async () => {
    const there = cluster()
    const everything = { nodes: [nodeA, nodeB], services: [api, web] }
    await serve(there, predecessor, everything)
    await serve(there, predecessor, everything)
    const { password, ...others } = facts
    const wanted = objectsOf(predecessor, { ...others, ...(!isCherry && { password }), ...everything })
    assert.equal(plain(there.all()), plain(wanted))
    const { length } = there.server.writes
    await serve(there, predecessor, everything)
    assert.is(there.server.writes.length, length, 'it comes to rest')
  })

  test(`${predecessor}: the first Service is not counted until it looks again; without it its peers go too early`, async () => {
    const there = cluster()
    await serve(there, predecessor, { nodes: [nodeA], services: [api, web] })
    const metallb = predecessorMetallb(there.client, predecessor)
    await metallb.removeCounts({ namespace: 'default', name: 'web' })
    assert.equal(there.server.stored(bgpPeers), [], 'although api has an address')
  })

  for (const looks of [1, 2]) {
    test(`${predecessor}: after ${looks} looks, takeover and undo, it writes nothing, and each Service leaves alone`, () =>
      thereAndBack(predecessor, looks))
  }
}

/** A takeover and its undo, during which a node and a Service come; twice. */
async function thereAndBack(predecessor: Predecessor, looks: number): Promise<void> {
  const there = cluster()
  const isCherry = predecessor.startsWith('Cherry')
  const dialect = dialects.find(({ name }) => name === (isCherry ? 'cherry-servers' : 'equinix-metal'))
  assert.ok(dialect)
  const { announcerMarks } = dialect.names
  const ours = metallbObjects({ ...marks, peerMode: predecessor.endsWith('FRR') ? 'frr' : 'native' })
  const now = { nodes: [nodeA], services: [api, web] }
  for (let n = 0; n < looks; n += 1) await serve(there, predecessor, now)
  for (const [machine, service] of [
    [nodeB, shop],
    [nodeC, mail],
  ] as const) {
    const found = foundObjects(there.all(), announcerMarks)?.objects ?? []
    now.nodes.push(machine)
    now.services.push(service)
    const state = stateOf(now, isCherry)
    toRest(there, () => planChanges(ours, there.all(), ours.objects(state, there.all()).wanted))

    const password = isCherry ? undefined : facts.password
    const services = now.services.map(serviceOf)
    const names = { ...marks, ...announcerMarks }
    const undo = { marks: names, found, services, nodes: now.nodes.map(nodeOf), password }
    toRest(there, () => planChanges(predecessorConfiguration(undo), there.all(), wantedObjects(there.all(), undo)))

    const undone = plain(there.all())
    await serve(there, predecessor, now)
    assert.equal(plain(there.all()), undone)
  }
  const theirs = predecessorMetallb(there.client, predecessor)
  const peers = there.server.stored(bgpPeers).length
  for (const { name } of [mail, shop, api]) {
    await theirs.removePool({ namespace: 'default', name })
    await theirs.removeCounts({ namespace: 'default', name })
  }
  assert.is(there.server.stored(bgpPeers).length, peers)
  assert.equal(there.server.stored(bgpAdvertisements)[0]?.spec?.ipAddressPools, ['default.web'])
}

/** Carries out plan after plan until nothing is left. */
function toRest(there: ReturnType<typeof cluster>, plan: () => ReturnType<typeof planChanges>): void {
  for (let n = 0; n < 20; n += 1) {
    const { first, waves, last, isHolding } = plan()
    const [wave = []] = waves
    const now = [...first.flat(), ...wave.flat(), ...(isHolding || waves.length > 1 ? [] : last)]
    if (now.length === 0) return
    there.carryOut(now)
  }
  throw new Error(`it does not come to rest: ${JSON.stringify(plain(there.all()))}`)
}

function serviceOf({ name, address }: Served): Service {
  const metadata = { namespace: 'default', name }
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'LoadBalancer', loadBalancerIP: address } }
}

function nodeOf({ name }: Machine): Node {
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/region': 'LT-Siauliai' }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} }
}

test.run()
