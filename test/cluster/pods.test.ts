// The pods of the chart with 1,000 Services, and with tokens that a new key signs while they work.
import { generateKeyPairSync } from 'node:crypto'
import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { acceptedKeys, signingKey } from '../../sandbox/cluster/control-plane.ts'
import { groupOf } from '../../sandbox/cluster/node.ts'
import { installProduct } from '../../sandbox/cluster/product.ts'
import { eventually } from '../whole/eventually.ts'
import { boot, expose, measured } from './booted.ts'

const cluster = await boot()
const { dir, run, nodes, kubectl } = cluster
for (const node of nodes) await node.addPodNetwork()
await installProduct(cluster, { settings: { 'max-addresses': 'none', 'max-addresses-per-namespace': 'none' } })
const inRelease = ['--namespace', 'eip-admission']
await run([...inRelease, 'rollout', 'status', 'deployment/eip-admission', '--timeout=300s'])

type Pod = { name: string; container: string; restarts: number }

/** The pods of the chart, with the containers that run in them. */
async function podsOfProduct(): Promise<Pod[]> {
  const { items } = JSON.parse(await run([...inRelease, 'get', 'pods', '-o', 'json'])) as {
    items: {
      metadata: { name: string }
      status: { containerStatuses: { containerID: string; restartCount: number }[] }
    }[]
  }
  return items.map(({ metadata: { name }, status }) => {
    const [{ containerID, restartCount } = { containerID: '', restartCount: 0 }] = status.containerStatuses
    return { name, container: containerID.replace('containerd://', ''), restarts: restartCount }
  })
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)

/** The kernel's counts of a container's memory, in bytes: the limit, the most that it had, and how often it wanted more. */
function memoryOf(container: string): { limit: number; most: number; failures: number } {
  const groups = nodes.map(({ name }) => groupOf({ dir, name }))
  const [group = ''] = globSync(`/sys/fs/cgroup/memory/{${groups.join(',')}}/**/${container}`)
  assert.is.not(group, '')
  const value = (file: string) => Number(readFileSync(join(group, `memory.${file}`), 'utf8'))
  return { limit: value('limit_in_bytes'), most: value('max_usage_in_bytes'), failures: value('failcnt') }
}

/** The names of the records whose Services have their addresses. */
const bound = async () => (await run(['get', 'eip', '--field-selector=status.phase=Bound', '-o', 'name'])).split('\n')

test('with 1,000 Services its pods stay below the limit of the chart', async () => {
  const items = Array.from({ length: 1_000 }, (_, n) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `many-${n}` },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  }))
  await run(['create', '-f', '-'], { apiVersion: 'v1', kind: 'List', items })
  await eventually('each has its address', async (observe) => observe(await bound()).length >= 1_000 || undefined)
  const pods = await podsOfProduct()
  assert.is(pods.length, 2)
  const memory = pods.map(({ container }) => memoryOf(container))
  measured(
    `the most memory of each pod with 1,000 Services: ${memory.map(({ most }) => mebibytes(most)).join(', ')} MiB`,
  )
  for (const { limit, most, failures } of memory) {
    assert.is(mebibytes(limit), 384)
    assert.is(failures, 0)
    assert.ok(most < 0.75 * limit, `${mebibytes(most)} MiB`)
  }
  assert.equal(
    pods.map(({ restarts }) => restarts),
    [0, 0],
  )
})

/** The token that a pod reads now. */
const tokenOf = (pod: string) => {
  const file = '/var/run/secrets/kubernetes.io/serviceaccount/token'
  return run([...inRelease, 'exec', pod, '--', 'node', '--print', `require('node:fs').readFileSync('${file}', 'utf8')`])
}

/** Whether the API server accepts a token. */
async function isAccepted(token: string): Promise<boolean> {
  const at = [`--server=${cluster.apiServer}`, `--certificate-authority=${dir}/ca.crt`, '--kubeconfig=/dev/null']
  const { code } = await kubectl([...at, `--token=${token.trim()}`, 'auth', 'whoami'])
  return code === 0
}

test('when the key that signs tokens is replaced, its pods go on with new tokens and do not restart', async () => {
  const before = await podsOfProduct()
  const old = await Promise.all(before.map(({ name }) => tokenOf(name)))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  // As administrators do it: first both keys are accepted, and then only the new one is.
  writeFileSync(join(dir, signingKey), key)
  appendFileSync(join(dir, acceptedKeys), key)
  await cluster.restartControlPlane()
  // A kubelet renews tokens after most of their hour, or when it starts.
  for (const node of nodes) node.restartKubelet()
  await eventually('each pod has a new token', async () => {
    const now = await Promise.all(before.map(({ name }) => tokenOf(name).catch(() => '')))
    return now.every((token, at) => token !== '' && token !== old[at]) || undefined
  })
  for (const token of old) assert.ok(await isAccepted(token))
  writeFileSync(join(dir, acceptedKeys), key)
  await cluster.restartControlPlane()
  for (const token of old) assert.not.ok(await isAccepted(token))
  await expose(cluster, 'after')
  await eventually('the leader writes with its new token', async () => {
    const names = await bound()
    return names.some((name) => name.endsWith('/default.after')) || undefined
  })
  const after = await podsOfProduct()
  assert.equal(after, before)
})

test.after(() => cluster.close())

test.run()
