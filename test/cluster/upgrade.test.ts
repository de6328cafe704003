// Users create Services all the time while the chart is upgraded and rolled back, and while the leader's node is drained.
// The failure policy is the default one. No create is refused, and each Service has its address soon after. The namespace of
// the chart enforces the Pod Security Standard "restricted".
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { installProduct } from '../../sandbox/cluster/product.ts'
import { runHelm } from '../../sandbox/run-helm.ts'
import { addressesOf, createWhile } from '../whole/create-load.ts'
import { eventually } from '../whole/eventually.ts'
import { boot, measured } from './booted.ts'

const cluster = await boot()
const { run } = cluster
for (const node of cluster.nodes) await node.addPodNetwork()
const settings = { 'max-addresses': 'none', 'max-addresses-per-namespace': 'none' }
await installProduct(cluster, { settings })
const client = connect(kubeconfig({ file: cluster.kubeconfig }), { userAgent: 'user', timeoutMs: 40_000 })
const inRelease = ['--namespace', 'eip-admission']
const isRolledOut = () => run([...inRelease, 'rollout', 'status', 'deployment/eip-admission', '--timeout=300s'])
const podNames = async () =>
  (await run([...inRelease, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ')

await isRolledOut()

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** Creates Services while `act` goes on; judges the creates, and prints what users saw of them. */
async function underCreates(name: string, act: () => Promise<unknown>): Promise<void> {
  const creates = await createWhile(client, { prefix: name, perSecond: 4 }, act)
  const endedMs = performance.now()
  assert.equal(creates.failed, [])
  const addresses = await addressesOf(client, creates)
  const { created, late, missed, longestMs } = creates
  measured(
    `${name}: ${created.length} creates, the longest took ${seconds(longestMs)}; ${late.length} had no address at once, ` +
      `${missed.length} without a review; all had one ${seconds(performance.now() - endedMs)} after the last create`,
  )
  assert.is(addresses.length, created.length)
  assert.ok(created.length > 10, `${created.length} creates`)
}

/** Waits until none of these pods is left. The kubelet kills a pod that has not ended within its grace period of 60 s. */
const haveEnded = (pods: string[]) =>
  eventually(
    'the former pods have ended by themselves',
    async (observe) => {
      const after = observe(await podNames())
      return after.some((name) => pods.includes(name)) ? undefined : true
    },
    // With the patience of `eventually`, that is still sooner than the kubelet.
    15_000,
  )

test('an upgrade of the chart under creates', async () => {
  const before = await podNames()
  await underCreates('upgraded', async () => {
    await installProduct(cluster, { settings, podAnnotations: { round: '2' } })
    await isRolledOut()
  })
  await haveEnded(before)
})

test('a rollback of the chart under creates', async () => {
  const before = await podNames()
  await underCreates('rolled-back', async () => {
    await runHelm(['rollback', 'eip-admission', '1', ...inRelease], { KUBECONFIG: cluster.kubeconfig })
    await isRolledOut()
  })
  await haveEnded(before)
})

test("a drain of the leader's node under creates", async () => {
  const lease = ['-n', 'kube-system', 'get', 'lease', 'cloud-controller-manager']
  const leaderOf = () => run([...lease, '-o', 'jsonpath={.spec.holderIdentity}'])
  const leader = await eventually('a replica leads', async () => (await leaderOf()) || undefined)
  const pod = leader.split('_')[0] ?? ''
  const node = await run([...inRelease, 'get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}'])
  await underCreates('drained', async () => {
    await run(['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=300s'])
    await isRolledOut()
  })
  await eventually('another replica leads', async () => {
    const now = await leaderOf()
    return (now !== '' && now !== leader) || undefined
  })
  await run(['uncordon', node])
})

test.after(() => cluster.close())

test.run()
