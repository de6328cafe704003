// The nodes that show the BGP password of a project, which only Equinix Metal has.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { once } from './once.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const { startNode, seen, node } = simulatedNodes(stage)
const password = 'Secret12345abc'
const shown = Buffer.from(password).toString('base64')
const other = 'Another12345'
const prefix = 'metal.equinix.com'
const settings = { METAL_METRO_NAME: 'da', METAL_BGP_PASS: password, METAL_LOAD_BALANCER: 'kube-vip://' }

let product: Product | undefined
async function run(env: Record<string, string> = {}): Promise<void> {
  await product?.stop()
  product = await stage.start({ env: { ...settings, ...env } })
}

const annotationNames = (name: string) => [0, 1].map((n) => `${prefix}/bgp-peers-${n}-${name}`)
const annotationsAre = (is: (found: Record<string, string>) => boolean) =>
  seen('its annotations are right', 'first', (one) => one !== undefined && is(one.metadata.annotations ?? {}))
const hasPeers = (found: Record<string, string>) =>
  annotationNames('peer-ip').every((name) => found[name] !== undefined)
const hasPassword = (found: Record<string, string>) =>
  annotationNames('bgp-pass').every((name) => found[name] === shown)
const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')

const joinFirst = once(() => startNode('first'))

test('with kube-vip the node has the password in base64', async () => {
  await run()
  await joinFirst()
  await annotationsAre((found) => hasPeers(found) && hasPassword(found))
})

for (const loadBalancer of ['empty://', 'metallb:///'])
  test(`with ${loadBalancer} the node has no password annotation, and an existing one is removed`, async () => {
    await run()
    await joinFirst()
    await annotationsAre((found) => hasPassword(found))
    await run({ METAL_LOAD_BALANCER: loadBalancer })
    await annotationsAre((found) => hasPeers(found) && !JSON.stringify(found).includes(shown))
  })

test('old annotations that kube-vip would read are removed, and annotation names can be set', async () => {
  await run()
  await joinFirst()
  await stage.run('annotate', 'node', 'first', `${prefix}/peer-ip=192.0.2.1`, `${prefix}/else=kept`)
  await run({ METAL_LOAD_BALANCER: 'kube-vip://', METAL_ANNOTATION_SRC_IP: 'example.com/source-{{n}}' })
  await annotationsAre((found) => found[`${prefix}/peer-ip`] === undefined && found[`${prefix}/else`] === 'kept')
  await annotationsAre((found) => found['example.com/source-1'] !== undefined && hasPassword(found))
})

test('a project that has BGP keeps its password, and the log warns once of a differing setting', async () => {
  await run()
  await joinFirst()
  await annotationsAre((found) => hasPeers(found) && hasPassword(found))
  await run({ METAL_BGP_PASS: other })
  await eventually('the log says it', () => log().includes('its password is different') || undefined)
  await annotationsAre((found) => hasPeers(found) && hasPassword(found))
  assert.is(log().match(/its password is different/g)?.length, 1)
  assert.is((await node('first'))?.metadata.annotations?.[`${prefix}/bgp-peers-0-node-asn`], '65000')
})

test('no password is in a log or an event', async () => {
  if (product === undefined) await run()
  await joinFirst()
  await annotationsAre(hasPeers)
  for (const text of [log(), await stage.run('get', 'events', '-A', '-o', 'json')]) {
    for (const secret of [password, shown, other]) assert.not(text.includes(secret))
  }
})

test.after(() => stage.close())

test.run()
