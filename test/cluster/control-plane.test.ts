// The guardians of the control-plane address as the DaemonSet of the chart, on three control planes whose API servers
// users reach through that address. A client outside reads through it all the time. The bounds are wide, for shared
// processors: bench/README.md has the figures.
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { controlPlaneNames } from '../../sandbox/cluster/cluster.ts'
import { installProduct } from '../../sandbox/cluster/product.ts'
import { startClient } from '../../sandbox/control-planes/client.ts'
import { eventually } from '../whole/eventually.ts'
import { boot, measured } from './booted.ts'

const cluster = await boot(controlPlaneNames)
const { dir, run, nodes, network, nodeCalled, nodeOfAddress } = cluster
const address = cluster.cloud.controlPlaneAddress ?? ''
const holder = () => nodeOfAddress(address) ?? ''
const client = startClient({
  on: (command) => network.on('client', command),
  url: `${cluster.apiServer}/api/v1/namespaces/kube-system`,
  authorityFile: join(dir, 'ca.crt'),
  token: cluster.token,
  timeoutMs: 1_000,
  logFile: join(dir, 'logs', 'client.log'),
})

const inRelease = ['--namespace', 'eip-admission']
const guardians = 'daemonset/eip-admission-control-plane'
const guardiansReady = () => run([...inRelease, 'rollout', 'status', guardians, '--timeout=300s'])

/** Does something, and returns when every read of the client succeeds; prints its loss. */
async function measureReads(deed: string, act: () => Promise<unknown>): Promise<number> {
  const fromMs = Date.now()
  await act()
  await client.untilAnswered(20, 120_000)
  const { reads, failed, lost, longestGapMs } = await client.lossSince(fromMs)
  const seconds = (longestGapMs / 1_000).toFixed(1)
  const all = ((Date.now() - fromMs) / 1_000).toFixed(1)
  measured(
    `${deed}: ${seconds} s without a good answer; of ${reads} reads in ${all} s ${failed} failed, ${lost} of them again at once`,
  )
  return longestGapMs
}

const leaves = (before: string) =>
  eventually('the address leaves it', () => (holder() !== before && holder() !== '') || undefined)

test('guardians start on tainted control planes without a pod network, where labels let the host network in', async () => {
  // As installers label them.
  for (const { name } of nodes) await run(['label', 'node', name, 'node-role.kubernetes.io/control-plane='])
  await installProduct(cluster, { hostNetwork: true, webhooks: { failurePolicy: 'Fail' } })
  await guardiansReady()
  const pods = await run([...inRelease, 'get', guardians, '-o', 'jsonpath={.status.numberReady}'])
  assert.is(pods, '3')
  assert.is(holder(), 'control-1')
})

test('a rolling update of the guardians moves nothing', async () => {
  const before = holder()
  const gapMs = await measureReads('a rolling update of the guardians', async () => {
    await run([...inRelease, 'rollout', 'restart', guardians])
    await guardiansReady()
  })
  assert.is(holder(), before)
  assert.ok(gapMs < 5_000, `${gapMs} ms`)
})

test('the node with the address is cordoned: the address goes to another one', async () => {
  const before = holder()
  const gapMs = await measureReads('a cordon', async () => {
    await run(['cordon', before])
    await leaves(before)
  })
  assert.ok(gapMs < 5_000, `${gapMs} ms`)
  await run(['uncordon', before])
})

test('the node with the address loses power: the address goes to another one within seconds', async () => {
  const before = holder()
  const gapMs = await measureReads('the node with the address loses power', async () => {
    await nodeCalled(before).powerOff()
    await leaves(before)
  })
  assert.ok(gapMs < 30_000, `${gapMs} ms`)
  const after = holder()
  await nodeCalled(before).powerOn()
  await guardiansReady()
  assert.is(holder(), after)
})

test.after(async () => {
  await client.stop()
  await cluster.close()
})

test.run()
