// The product's objects for Calico, under Calico's own CRDs, beside people's objects. Calico does not run.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { calicoResources } from '../../announcers/calico/resources.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { calicoDefinitions } from './calico-definitions.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { ipOf, simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
const { startNode, register, settled } = simulatedNodes(stage)
const settings = (url: string) => ({ ...dialectOf('equinix-metal').here, METAL_LOAD_BALANCER: url })
const apiVersion = 'projectcalico.org/v3'

/** The entries of the list that people also edit. */
async function entries(): Promise<string[]> {
  const found = await stage.client.get(calicoResources.configurations, { name: 'default' })
  return (found?.spec?.serviceLoadBalancerIPs ?? []).map(({ cidr }) => cidr)
}

function hasEntries(what: string, isRight: (cidrs: string[]) => boolean): Promise<true> {
  return eventually(what, async (observe) => isRight(observe(await entries())) || undefined)
}

await stage.send(['create'], { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'calico-system' } })
let product = await stage.startSwept({ env: settings('calico:///') })
await startNode('node-a')
let address = ''

test('without the kinds of Calico an Event says what brings them', async () => {
  const { spec } = await stage.create(loadBalancer('web'))
  address = spec.loadBalancerIP ?? ''
  await eventually('the Event', async (observe) => {
    const messages = await stage.run('get', 'events', '-o', 'jsonpath={.items[*].message}')
    return observe(messages).includes('which comes with Calico 3.31 or later, with its API server') || undefined
  })
})

test('peers, filter and list are accepted, beside the entry of a person', async () => {
  await stage.send(['apply'], { apiVersion: 'v1', kind: 'List', items: calicoDefinitions })
  await stage.run('wait', '--for=condition=Established', 'crd', '--all')
  const spec = { serviceLoadBalancerIPs: [{ cidr: '10.0.0.1/32' }], asNumber: 64512 }
  // Either the product or the person creates it first.
  const apply = ['apply', '--server-side', '--force-conflicts']
  await stage.send(apply, { apiVersion, kind: 'BGPConfiguration', metadata: { name: 'default' }, spec })
  await hasEntries('both are listed', (cidrs) => cidrs.join() === `10.0.0.1/32,${address}/32`)
  assert.is(shownIn(await stage.service('web')), address)
  const peers = (await stage.client.list(calicoResources.peers)).items.map(({ spec: of }) => of)
  assert.equal(
    peers.map(({ node, peerIP, localASNumber }) => `${node} ${peerIP} ${localASNumber}`),
    ['node-a 169.254.255.1 65000', 'node-a 169.254.255.2 65000'],
  )
  const filter = await stage.client.get(calicoResources.filters, { name: 'eip-admission' })
  assert.ok(filter?.spec.exportV4.some(({ cidr }) => cidr === `${address}/32`))
})

test('a filter and a peer that a person deletes are written again', async () => {
  const [peer] = (await stage.client.list(calicoResources.peers)).items
  for (const [resource, name] of [
    [calicoResources.filters, 'eip-admission'],
    [calicoResources.peers, peer?.metadata.name ?? ''],
  ] as const) {
    const uid = async () => (await stage.client.get<KubeObject>(resource, { name }))?.metadata.uid
    const before = await uid()
    await stage.run('delete', `${resource.plural}.projectcalico.org`, name)
    const written = await eventually(`${resource.kind} ${name} is there again`, uid)
    assert.is.not(written, before)
  }
  // Without the right to watch these objects, this would take a minute, and `/readyz` and an Event would name the
  // right.
  const text = await stage.run('get', 'events', '-A', '-o', 'jsonpath={.items[*].reason}')
  assert.not.match(text, 'RightMissing')
})

test('a peer that an older Calico stored without its AS number gets it after the upgrade', async () => {
  const [peer] = (await stage.client.list(calicoResources.peers)).items
  const name = peer?.metadata.name ?? ''
  const removal = JSON.stringify([{ op: 'remove', path: '/spec/localASNumber' }])
  await stage.run('patch', 'bgppeer', name, '--type=json', '-p', removal)
  await stage.create(loadBalancer('upgraded'))
  await eventually('it has its AS number', async (observe) => {
    return observe(await stage.client.get(calicoResources.peers, { name }))?.spec.localASNumber === 65000 || undefined
  })
  await stage.run('delete', 'service', 'upgraded')
  await stage.gone('upgraded')
})

test('no entry is lost while a person and we edit the list at the same time', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `many-${n}`)
  const created = names.map((name) => stage.create(loadBalancer(name)))
  for (let n = 2; n < 14; n += 1) {
    const add = [{ op: 'add', path: '/spec/serviceLoadBalancerIPs/-', value: { cidr: `10.0.0.${n}/32` } }]
    await stage.run('patch', 'bgpconfiguration', 'default', '--type=json', '-p', JSON.stringify(add))
  }
  const ours = (await Promise.all(created)).map(({ spec }) => `${spec.loadBalancerIP}/32`)
  const theirs = Array.from({ length: 13 }, (_, n) => `10.0.0.${n + 1}/32`)
  const all = [...ours, ...theirs, `${address}/32`].toSorted().join()
  await hasEntries('all are listed', (cidrs) => cidrs.toSorted().join() === all)
  await stage.run('delete', 'service', ...names)
  await hasEntries('ours no longer exist', (cidrs) => cidrs.length === theirs.length + 1)
})

test('an address leaves the list before its reservation is deleted', async () => {
  stage.cloud.control.faults.add({ on: routes.release, answer: 503 })
  await stage.run('delete', 'service', 'web', '--wait=false')
  await hasEntries('it is not listed', (cidrs) => !cidrs.includes(`${address}/32`))
  assert.ok(stage.reserved().some((one) => one.address === address))
  stage.cloud.control.faults.clear()
  await stage.gone('web')
  await eventually('it is released', () => stage.reserved().length === 0 || undefined)
})

test('an address is not released while the machine of a deleted Node may announce it', async () => {
  const nodeIp = ipOf(await startNode('node-b'), 4, 'private')
  const { spec } = await stage.create(loadBalancer('stale'))
  const peersOfNode = async () =>
    (await stage.client.list(calicoResources.peers)).items.filter((peer) => peer.spec.node === 'node-b').length
  await hasEntries('it is listed', (cidrs) => cidrs.includes(`${spec.loadBalancerIP}/32`))
  await eventually('the node has peers', async (observe) => observe(await peersOfNode()) === 2 || undefined)
  await stage.run('delete', 'node', 'node-b')
  await stage.run('delete', 'service', 'stale', '--wait=false')
  await eventually('an Event says why it waits', async (observe) => {
    const messages = await stage.run('get', 'events', '-o', 'jsonpath={.items[*].message}')
    return observe(messages).includes('Node node-b was deleted, and its machine may continue to announce') || undefined
  })
  await hasEntries('it is not listed', (cidrs) => !cidrs.includes(`${spec.loadBalancerIP}/32`))
  assert.equal([stage.reserved().length, await peersOfNode()], [1, 2])
  await register('node-b', { nodeIp })
  await settled('node-b')
  await stage.gone('stale')
  await eventually('it is released', () => stage.reserved().length === 0 || undefined)
})

test('an Event says what of a person is in the way, and nothing new is announced', async () => {
  const says = (text: string) =>
    eventually(`an Event says: ${text}`, async (observe) => {
      const messages = await stage.run('get', 'events', '-A', '-o', 'jsonpath={.items[*].message}')
      return observe(messages).includes(text) || undefined
    })
  const pool = { cidr: '192.0.2.0/24', allowedUses: ['LoadBalancer'] }
  await stage.send(['create'], { apiVersion, kind: 'IPPool', metadata: { name: 'lb' }, spec: pool })
  const { spec } = await stage.create(loadBalancer('later'))
  await says('IPPool lb is for load balancers')
  assert.not((await entries()).includes(`${spec.loadBalancerIP}/32`))
  const peer = { peerIP: '169.254.255.1', asNumber: 65530 }
  await stage.send(['create'], { apiVersion, kind: 'BGPPeer', metadata: { name: 'tor' }, spec: peer })
  await stage.run('delete', 'ippool', 'lb')
  await stage.run('annotate', 'service', 'later', 'a=b')
  await says('BGPPeer tor, which eip-admission does not manage')
  await hasEntries('it is listed', (cidrs) => cidrs.includes(`${spec.loadBalancerIP}/32`))
  await stage.run('delete', 'bgppeer', 'tor')
  await stage.run('delete', 'service', 'later')
})

test('with another setting nothing that we wrote is left, and all of the person is', async () => {
  await stage.create(loadBalancer('web'))
  await hasEntries('it is listed', (cidrs) => cidrs.length === 14)
  await product.stop()
  product = await stage.start({ env: settings('empty://') })
  await hasEntries('it is not listed', (cidrs) => cidrs.length === 13)
  const owned = ['-l', 'app.kubernetes.io/managed-by=eip-admission', '-o', 'name', '-A']
  await eventually('no peer and no filter is left', async (observe) => {
    return observe(await stage.run('get', 'bgppeers,bgpfilters,secrets', ...owned)) === '' || undefined
  })
  const left = await stage.client.get(calicoResources.configurations, { name: 'default' })
  assert.is(left?.metadata.annotations?.['eip-admission.dev/announced-addresses'], undefined)
  assert.equal(left?.spec && 'asNumber' in left.spec && left.spec.asNumber, 64512)
})

test.after(() => stage.close())

test.run()
