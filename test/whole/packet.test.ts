// The peculiarities of a cluster on Packet: the facility of its host, MetalLB with a ConfigMap by default, a switch for
// both.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { configMaps } from '../../kube/resource.ts'
import type { Product } from '../../sandbox/product.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { loadBalancer } from './manifests.ts'
import { once } from './once.ts'
import { openStage } from './test-stage.ts'

test('without a facility and without a metadata service the product ends with what to set', async () => {
  const { code, stderr } = await typed(
    ['serve', '--cloud-provider=packet', '--metadata-url=http://127.0.0.1:1', '--kubeconfig=/no/such/file'],
    { PACKET_API_KEY: 'a-secret-token', PACKET_PROJECT_ID: 'p' },
  )
  assert.is(code, 1)
  for (const word of ['--facility', 'PACKET_FACILITY_NAME', 'the field facility']) assert.match(stderr, word)
  assert.not.match(stderr, /\n\s+at |a-secret-token/)
})

const stage = await openStage({ dialect: 'packet' })
const { startNode, device, node } = simulatedNodes(stage)
const host = device('host')
const env = {
  PACKET_FACILITY_NAME: '',
  EIP_METADATA_URL: `${stage.cloud.controlUrl}/devices/${host.id}/metadata-service`,
}
let product: Product | undefined

const startWithWeb = once(async () => {
  product = await stage.startSwept({ env })
  return stage.create(loadBalancer('web'))
})

test('addresses come from the facility of the host', async () => {
  const { spec } = await startWithWeb()
  assert.is(stage.reserved().find(({ address }) => address === spec.loadBalancerIP)?.place, 'da11')
})

test('without a setting addresses go to the ConfigMap of MetalLB, and what an administrator wrote there stays', async () => {
  await startWithWeb()
  const byHand = `# mine
address-pools:
- name: by-hand
  protocol: layer2
  addresses: [10.0.0.0/24]
`
  const { name, namespace } = { name: 'config', namespace: 'metallb-system' }
  await stage.run('create', 'namespace', namespace)
  await stage.run('create', 'configmap', name, '-n', namespace, `--from-literal=config=${byHand}`)
  const address = (await stage.service('web'))?.spec.loadBalancerIP
  const config = await eventually('the address is in the ConfigMap', async (observe) => {
    const text = observe(await stage.client.get(configMaps, { name, namespace }))?.data?.['config'] ?? ''
    return text.includes(`${address}/32`) ? text : undefined
  })
  assert.match(config, byHand.trim())
  assert.match(config, 'auto-assign: false')
})

test('a node has the providerID of its machine, and its facility as its region, as the predecessor wrote it', async () => {
  await startWithWeb()
  const { id } = await startNode('worker')
  const { metadata, spec } = (await node('worker')) ?? {}
  assert.is(spec?.providerID, `packet://${id}`)
  assert.is(metadata?.labels?.['topology.kubernetes.io/zone'], undefined)
  assert.is(metadata?.labels?.['topology.kubernetes.io/region'], 'da11')
})

test('with PACKET_DISABLE_LB nodes are initialized, no Service gets an address, and no facility is needed', async () => {
  await product?.stop()
  product = await stage.start({ env: { ...env, EIP_METADATA_URL: 'http://127.0.0.1:1', PACKET_DISABLE_LB: 'true' } })
  const { spec } = await stage.create(loadBalancer('without'))
  assert.is(spec.loadBalancerIP, undefined)
  await startNode('later')
})

test.after(() => stage.close())

test.run()
