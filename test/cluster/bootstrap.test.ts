// A new cluster of three real nodes, whose nodes only the product initializes, starts with the chart.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { installProduct } from '../../sandbox/cluster/product.ts'
import { webDeployment } from '../../sandbox/cluster/programs.ts'
import { eventually } from '../whole/eventually.ts'
import { boot, clientOf, expose } from './booted.ts'

const cluster = await boot()
const { nodes, run } = cluster

const taintsOf = () => run(['get', 'nodes', '-o', 'jsonpath={.items[*].spec.taints[*].key}'])
const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized'

test('pods of the host network start before there is a pod network, and initialize every node', async () => {
  assert.match(await taintsOf(), uninitialized)
  await installProduct(cluster, { hostNetwork: true, webhooks: { failurePolicy: 'Fail' } })
  await eventually('no node waits for its cloud provider', async () =>
    (await taintsOf()).includes(uninitialized) ? undefined : true,
  )
})

test('a client outside is answered by a pod through the address that `kubectl create` returned', async () => {
  for (const node of nodes) await node.addPodNetwork()
  await run(['create', '-f', '-'], webDeployment('web', { replicas: 2 }))
  await run(['rollout', 'status', 'deployment/web', '--timeout=300s'])
  const client = await clientOf(cluster, await expose(cluster, 'web'))
  await client.stop()
})

test.after(() => cluster.close())

test.run()
