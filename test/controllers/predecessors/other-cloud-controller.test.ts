// Fields that another cloud controller manager and eip-admission both write, by the flags and variables of the other one.
import type { Container } from '../../../kube/workloads.ts'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { overlapRemedy, overlapWith } from '../../../controllers/predecessors/other-cloud-controller.ts'
import type { NodeController } from '../../../settings/nodes.ts'

const image = 'docker.io/hetznercloud/hcloud-cloud-controller-manager:v1.30.0'
const shipped: Container = {
  name: 'hcloud-cloud-controller-manager',
  image,
  args: ['--allow-untagged-cloud', '--cloud-provider=hcloud', '--leader-elect=false'],
}
const withoutNodes = [...(shipped.args ?? []), '--controllers=*,-cloud-node,-cloud-node-lifecycle']
const left: NodeController[] = ['cloud-node', 'cloud-node-lifecycle']
const off = [{ name: 'HCLOUD_LOAD_BALANCERS_ENABLED', value: 'false' }]

const rows: [name: string, container: Container, ours: { left?: NodeController[]; none?: boolean }, both: string][] = [
  ['as its vendor ships it', shipped, {}, 'nodes, Services'],
  ['that leaves the nodes', { ...shipped, args: withoutNodes }, {}, 'Services'],
  [
    'as two words of its command',
    { image, command: ['ccm', '--controllers', '*,-service-lb-controller'] },
    {},
    'nodes',
  ],
  ['that leaves one of the node controllers', { image, args: ['--controllers=*,-cloud-node'] }, {}, 'nodes, Services'],
  ['whose Services are off', { ...shipped, env: off }, {}, 'nodes'],
  [
    'whose Services are on',
    { ...shipped, env: [{ name: 'HCLOUD_LOAD_BALANCERS_ENABLED', value: 'true' }] },
    {},
    'nodes, Services',
  ],
  ['with another variable', { ...shipped, env: [{ name: 'HCLOUD_DEBUG', value: 'false' }] }, {}, 'nodes, Services'],
  ['to which we leave the nodes', { ...shipped, env: off }, { left }, ''],
  ['beside Services with a class', { ...shipped, args: withoutNodes }, { none: false }, ''],
  [
    'known by its name alone',
    { name: 'cloud-controller-manager', image: 'registry.example/x@sha256:ab' },
    {},
    'nodes, Services',
  ],
  ['that is another program', { name: 'web', image: 'registry.example/web' }, {}, 'none'],
  ['that is ours', { name: 'eip-admission-cloud-controller-manager', image: 'x' }, {}, 'none'],
]
for (const [name, container, { left: leftControllers = [], none = true }, both] of rows)
  test(`a cloud controller manager ${name}`, () => {
    const overlap = overlapWith([{ image: 'sidecar' }, container], { leftControllers, servesWithoutClass: none })
    assert.is(overlap?.both.join(', ') ?? 'none', both)
  })

test('the remedy names what to set for each', () => {
  const remedy = overlapRemedy({ image, both: ['nodes', 'Services'] })
  assert.match(remedy, '--controllers=*,-cloud-node,-cloud-node-lifecycle')
  assert.match(remedy, '--load-balancer-class')
})

test.run()
