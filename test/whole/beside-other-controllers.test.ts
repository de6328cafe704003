// Runs beside another cloud controller manager, such as Hetzner's own: which of them writes the nodes, and where that
// is reported.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nodes } from '../../kube/resource.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ dialect: 'hetzner' })
const { register, say, settled, node, events } = simulatedNodes(stage)
const { control } = stage.cloud
const env = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' }
const image = 'docker.io/hetznercloud/hcloud-cloud-controller-manager:v1.30.0'

const addServer = (name: string) => String((control.devices.add({ hostname: name }) as { id: number }).id)
const warnings = () =>
  stage.run('get', 'events', '-n', 'kube-system', '--field-selector', 'reason=OtherCloudController', '-o', 'json')

let product: Product

test('a program that its vendor ships is named with what both write, and with what to set', async () => {
  const labels = { app: 'hccm' }
  const containers = [{ name: 'hccm', image, args: ['--cloud-provider=hcloud', '--leader-elect=false'] }]
  await stage.send(['create'], {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'kube-system', name: 'hccm' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  })
  product = await stage.startSwept({ env })
  await eventually('an Event reports it', async (observe) => {
    const text = observe(await warnings())
    return (text.includes('both write nodes and Services') && text.includes('-cloud-node-lifecycle')) || undefined
  })
})

test('a Robot server is a node of somebody else, and a cloud server gets the labels of the vendor', async () => {
  await register('robot', { providerID: 'hcloud://bm-4321' })
  await say('robot', 'True')
  addServer('cloud-1')
  await register('cloud-1')
  await settled('cloud-1')
  const { labels } = (await node('cloud-1'))?.metadata ?? {}
  assert.equal(
    [labels?.['topology.kubernetes.io/zone'], labels?.['instance.hetzner.cloud/provided-by']],
    ['fsn1-dc14', 'cloud'],
  )
  assert.is(await events('robot'), '')
})

test('with --controllers the nodes are left to the other program, and addresses are assigned to them', async () => {
  await product.stop()
  await stage.run('delete', 'nodes', '--all')
  product = await stage.startSwept({ env, flags: ['--controllers=*,-cloud-node,-cloud-node-lifecycle'] })
  const server = addServer('cloud-2')
  await register('cloud-2')
  await stage.create(loadBalancer('web'))
  // The other program does its work.
  const merge = { spec: { providerID: `hcloud://${server}`, taints: null } }
  await stage.client.patch(nodes, { name: 'cloud-2', patch: { merge } })
  await say('cloud-2', 'True')
  const address = await eventually('its status shows it', async () => shownIn(await stage.service('web')))
  assert.is(control.route(address), server)
  const { metadata, status } = (await node('cloud-2')) ?? {}
  assert.equal(
    Object.keys(metadata?.labels ?? {}).filter((key) => key.startsWith('topology')),
    [],
  )
  assert.is(status?.addresses?.some(({ type }) => type === 'ExternalIP') ?? false, false)
})

test.after(() => stage.close())

test.run()
