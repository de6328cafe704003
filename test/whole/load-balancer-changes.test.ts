// The load balancer setting changes, or MetalLB comes late. We write the objects of the current software, and empty
// those of another one.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ipAddressPools } from '../../announcers/metallb/resources.ts'
import type { Secret } from '../../kube/objects.ts'
import { nodes, secrets } from '../../kube/resource.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { metallbView } from './metallb-view.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const namespace = 'metallb-system'
const [document, objects] = [metallbView(stage, '0.11.0'), metallbView(stage, '0.16.1')]
await stage.run('create', 'namespace', namespace)

let product: Product | undefined
async function restart(setting: string): Promise<void> {
  await product?.stop()
  product = await stage.startSwept({
    env: { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: setting, METAL_BGP_PASS: 'Secret12345abc' },
  })
}
const addressOf = async (name: string) => (await stage.service(name))?.spec.loadBalancerIP ?? ''
const events = (name: string) =>
  stage.run('get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].message}')
const arePools = (view: typeof objects, ...wanted: string[]) =>
  eventually(`the pools are ${wanted.join()}`, async (observe) => {
    return observe(await view.pools()).join() === wanted.toSorted().join() || undefined
  })
const hasPassword = async () =>
  (await stage.client.get(secrets, { namespace, name: 'eip-admission-bgp' })) !== undefined
const annotationsOfNode = async () =>
  Object.keys((await stage.client.get(nodes, { name: 'node-a' }))?.metadata.annotations ?? {})
const hasAnnotation = async (end: string) => (await annotationsOfNode()).some((name) => name.endsWith(end))

test('a ConfigMap of another name, to which install gave no right: its Service gets an Event', async () => {
  await restart(`metallb:///${namespace}/other`)
  await simulatedNodes(stage).startNode('node-a')
  await stage.create(loadBalancer('web'))
  await eventually(
    'an Event names the ConfigMap',
    async () => (await events('web')).includes(`may not access ConfigMap ${namespace}/other`) || undefined,
  )
})

test('MetalLB that comes after us is configured by what it brings, without a restart', async () => {
  await restart('metallb:///')
  await eventually(
    'it looks again',
    () =>
      readFileSync(stage.logOf('eip-admission'), 'utf8').includes('neither custom resources of MetalLB') || undefined,
  )
  await document.install()
  await arePools(document, `${await addressOf('web')}/32`)
})

test('custom resources instead of a ConfigMap: the ConfigMap is emptied of ours, and keeps what is a person’s', async () => {
  await document.addPool('theirs', '198.51.100.0/24')
  await objects.install()
  await restart(`metallb:///${namespace}?crdConfiguration=true`)
  await arePools(objects, `${await addressOf('web')}/32`)
  await arePools(document, '198.51.100.0/24')
  assert.equal(await document.left(), ['address-pools'])
  assert.ok((await objects.sessions()).length > 0)
  await eventually('with the password', async () => (await hasPassword()) || undefined)
})

test('kube-vip instead of MetalLB: no pool, peer, advertisement or password of ours is left, and a person’s pool is', async () => {
  await objects.addPool('theirs', '192.0.2.0/24')
  await restart('kube-vip://')
  await eventually('nothing that we wrote is left', async (observe) => {
    return observe(await objects.left()).join() === 'IPAddressPool theirs' || undefined
  })
  await eventually('nor the password', async () => !(await hasPassword()) || undefined)
  await eventually('kube-vip learns the password', async () => (await hasAnnotation('bgp-pass')) || undefined)
  assert.ok(await addressOf('web'), 'the Service keeps its address')
})

test('MetalLB again: it has the pool, and no node shows the password', async () => {
  await restart(`metallb:///${namespace}?crdConfiguration=true`)
  await arePools(objects, `${await addressOf('web')}/32`, '192.0.2.0/24')
  await eventually('no password in annotations', async () => !(await hasAnnotation('bgp-pass')) || undefined)
})

test('a ConfigMap again: the custom resources go after its pool is written', async () => {
  await restart(`metallb:///${namespace}/config`)
  await arePools(document, `${await addressOf('web')}/32`, '198.51.100.0/24')
  await arePools(objects, '192.0.2.0/24')
})

test('no announcing software: nothing that we wrote is left, and an address is released when no pool has it', async () => {
  await restart('empty://')
  await arePools(document, '198.51.100.0/24')
  await stage.run('delete', 'service', 'web')
  await stage.gone('web')
  assert.equal(await objects.left(), ['IPAddressPool theirs'])
})

test('load balancing off after kube-vip: no node shows the password, what others wrote stays, and no Secret has it', async () => {
  await restart('kube-vip://')
  await eventually('kube-vip learns the password', async () => (await hasAnnotation('bgp-pass')) || undefined)
  const at = { namespace: 'eip-admission', name: 'eip-admission-peers' }
  const peers = async () => Object.keys((await stage.client.get<Secret>(secrets, at))?.data ?? {})
  await eventually('the peers are stored', async () => (await peers()).length > 0 || undefined)
  await product?.stop()
  await stage.run('annotate', 'node', 'node-a', 'metal.equinix.com/bgp-peers-9-peer-asn=65530')
  await restart('none')
  await eventually('nothing that we wrote is left', async (observe) => {
    return (
      observe((await annotationsOfNode()).filter((name) => name.includes('bgp-peers')).join()) ===
        'metal.equinix.com/bgp-peers-9-peer-asn' || undefined
    )
  })
  await eventually('no peers are stored', async () => (await peers()).length === 0 || undefined)
})

test('load balancing off after MetalLB: its pools stay until their Services go, and each goes before its address', async () => {
  await restart(`metallb:///${namespace}?crdConfiguration=true`)
  for (const name of ['stays', 'goes']) await stage.create(loadBalancer(name))
  const [stays, goes] = await Promise.all(['stays', 'goes'].map(addressOf))
  const theirs = '192.0.2.0/24'
  await arePools(objects, `${stays}/32`, `${goes}/32`, theirs)
  const status = { loadBalancer: { ingress: [{ ip: goes }] } }
  await stage.run('patch', 'service', 'goes', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
  await restart('none')
  const poolOf = async (address: string | undefined) =>
    (await stage.client.list(ipAddressPools, { namespace })).items.find(
      ({ spec }) => spec.addresses.join() === `${address}/32`,
    )
  const held = (await poolOf(goes))?.metadata.name ?? ''
  const hold = (finalizers: string[]) =>
    stage.client.patch(ipAddressPools, { namespace, name: held, patch: { merge: { metadata: { finalizers } } } })
  await hold(['test.example.com/held'])
  await stage.run('delete', 'service', 'goes', '--wait=false')
  await eventually('its pool is deleted', async () => (await poolOf(goes))?.metadata.deletionTimestamp)
  await sleep(2_000)
  const isReserved = () => stage.reserved().some(({ address }) => address === goes)
  assert.ok(isReserved(), 'the pool goes first')
  await hold([])
  await stage.gone('goes')
  assert.not(isReserved())
  assert.equal(await objects.pools(), [`${stays}/32`, theirs].toSorted())
})

test.after(() => stage.close())

test.run()
