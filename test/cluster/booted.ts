// Shared parts of the tests on real nodes: the start of the cluster, and a client outside that asks an address.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Cluster, startCluster } from '../../sandbox/cluster/cluster.ts'
import type { ClusterNode } from '../../sandbox/cluster/node.ts'
import { clusterPrograms } from '../../sandbox/cluster/programs.ts'
import { type Administrator, administratorWith } from '../../sandbox/rig/administrator.ts'
import { eventually } from '../whole/eventually.ts'

export type Booted = Cluster & {
  /** The output of kubectl; a failure throws with its message. */
  run: Administrator['run']
  nodeCalled: (name: string) => ClusterNode
  /** The node to which the provider leads the packets for an address. */
  nodeOfAddress: (address: string) => string | undefined
  close(): Promise<void>
}

/** Starts a cluster of three nodes, which have registered and are not ready. */
export async function boot(names?: string[]): Promise<Booted> {
  const dir = mkdtempSync(join(tmpdir(), 'eipc-'))
  const cluster = await startCluster({ dir, programs: await clusterPrograms(), names })
  return {
    ...cluster,
    run: administratorWith(cluster.kubectl).run,
    nodeCalled(name) {
      const node = cluster.nodes.find((one) => one.name === name)
      if (!node) throw new Error(`no node is called ${name}`)
      return node
    },
    nodeOfAddress: (address) => ('routes' in cluster.cloud.way ? cluster.cloud.way.routes().get(address) : undefined),
    async close() {
      await cluster.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Creates a Service of a Deployment, and returns the address that `kubectl create` shows. */
export async function expose({ kubectl }: Booted, name: string, spec: object = {}): Promise<string> {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  }
  // With failurePolicy Fail a create is refused until a replica is ready.
  const created = await eventually('the create is reviewed', async (observe) => {
    const { code, stdout, stderr } = await kubectl(['create', '-f', '-', '-o', 'json'], service)
    observe(stderr)
    return code === 0 ? stdout : undefined
  })
  const { loadBalancerIP = '' } = (JSON.parse(created) as { spec: { loadBalancerIP?: string } }).spec
  assert.match(loadBalancerIP, /^\d+\.\d+\.\d+\.\d+$/)
  return loadBalancerIP
}

/** Prints a figure, which the runner shows although the test passes. Dots of other tests may begin the line. */
export function measured(text: string): void {
  console.log(`\nMEASURED ${text}`)
}

/** A time without an answer. */
export type Gap = { beganMs: number; ms: number }

export type Client = {
  /** Waits for the next answer; returns the longest time without one since the last call. */
  longestGap(): Promise<Gap>
  stop(): Promise<void>
}

/** A client outside that asks an address ten times a second. */
export async function clientOf({ dir, atClient }: Booted, address: string): Promise<Client> {
  const [answers, end] = ['answers', 'end'].map((what) => join(dir, `${what}-${address}`)) as [string, string]
  const ask = `curl --silent --fail --output /dev/null --max-time 0.5 http://${address}/hostname`
  const loop = `until [ -e ${end} ]; do ${ask} && date +%s%3N >> ${answers}; sleep 0.1; done`
  const asking = atClient(['sh', '-c', loop])
  const times = () => (existsSync(answers) ? readFileSync(answers, 'utf8').trim().split('\n').map(Number) : [])
  const next = async () => {
    const before = times().length
    await eventually('the client is answered', () => times().length > before || undefined, 120_000)
  }
  await next()
  let from = times().length - 1
  return {
    async longestGap() {
      await next()
      const seen = times().slice(from)
      from += seen.length - 1
      const gaps = seen.slice(1).map((time, at) => ({ beganMs: seen[at] ?? time, ms: time - (seen[at] ?? time) }))
      return gaps.reduce((longest, gap) => (gap.ms > longest.ms ? gap : longest))
    },
    async stop() {
      appendFileSync(end, '')
      await asking
    },
  }
}
