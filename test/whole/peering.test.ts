// The BGP password of a project, which only Equinix Metal has: who is told it, and who is not.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const { startNode, seen, node } = simulatedNodes(stage)
const password = 'Secret12345abc'
const shown = Buffer.from(password).toString('base64')
const other = 'Another12345'
const prefix = 'metal.equinix.com'
const settings = { METAL_METRO_NAME: 'da', METAL_BGP_PASS: password }

let product: Product | undefined
async function run(env: Record<string, string> = {}): Promise<void> {
  await product?.stop()
  product = await stage.start({ env: { ...settings, ...env } })
}

const told = (name: string) => [0, 1].map((n) => `${prefix}/bgp-peers-${n}-${name}`)
const says = (is: (said: Record<string, string>) => boolean) =>
  seen('its annotations are right', 'first', (one) => one !== undefined && is(one.metadata.annotations ?? {}))
const saysPeers = (said: Record<string, string>) => told('peer-ip').every((name) => said[name] !== undefined)
const saysPassword = (said: Record<string, string>) => told('bgp-pass').every((name) => said[name] === shown)
const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')

test('without MetalLB the node has the password in base64', async () => {
  await run()
  await startNode('first')
  await says((said) => saysPeers(said) && saysPassword(said))
})

test('with MetalLB the node has no password annotation, and an existing one is removed', async () => {
  await run({ METAL_LOAD_BALANCER: 'metallb:///' })
  await says((said) => saysPeers(said) && !JSON.stringify(said).includes(shown))
})

test('old annotations that kube-vip would read are removed, and annotation names can be set', async () => {
  await stage.run('annotate', 'node', 'first', `${prefix}/peer-ip=192.0.2.1`, `${prefix}/else=kept`)
  await run({ METAL_LOAD_BALANCER: 'kube-vip://', METAL_ANNOTATION_SRC_IP: 'example.com/source-{{n}}' })
  await says((said) => said[`${prefix}/peer-ip`] === undefined && said[`${prefix}/else`] === 'kept')
  await says((said) => said['example.com/source-1'] !== undefined && saysPassword(said))
})

test('a project that has BGP keeps its password, and the log warns once of a differing setting', async () => {
  await run({ METAL_BGP_PASS: other })
  await eventually('it is said', () => log().includes('its password is another one') || undefined)
  await says((said) => saysPeers(said) && saysPassword(said))
  assert.is(log().match(/its password is another one/g)?.length, 1)
  assert.is((await node('first'))?.metadata.annotations?.[`${prefix}/bgp-peers-0-node-asn`], '65000')
})

test('no password is in a log or an event', async () => {
  for (const text of [log(), await stage.run('get', 'events', '-A', '-o', 'json')]) {
    for (const secret of [password, shown, other]) assert.not(text.includes(secret))
  }
})

test.after(() => stage.close())

test.run()
