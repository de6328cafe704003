// A cluster with three control-plane nodes on one machine, and a control-plane address at the simulated cloud.
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { names, serviceAccountUser } from '../../settings/installed-names.ts'
import { nodes as nodeResource } from '../../kube/resource.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { type Product, startProduct, waitUntilReady } from '../../sandbox/product.ts'
import { type Gate, openGate } from '../whole/api-server-gate.ts'
import { eventually } from '../whole/eventually.ts'
import { type TcpProxy, openTcpProxy } from '../whole/tcp-proxy.ts'
import { dialect, openStage } from './dialect.ts'

const tag = ['cherry-servers', 'hetzner', 'scaleway'].includes(dialect.name) ? 'k8s=cp' : 'k8s-cp'
const settings = {
  'equinix-metal': { METAL_LOAD_BALANCER: '', METAL_EIP_TAG: tag, METAL_EIP_HEALTH_CHECK_USE_HOST_IP: 'true' },
  packet: { PACKET_DISABLE_LB: 'true', PACKET_EIP_TAG: tag },
  'cherry-servers': { CHERRY_LOAD_BALANCER: '', CHERRY_FIP_TAG: tag, CHERRY_FIP_HEALTH_CHECK_USE_HOST_IP: 'true' },
  hetzner: { HCLOUD_LOAD_BALANCER: 'none', HCLOUD_FIP_LABEL: tag, HCLOUD_FIP_HEALTH_CHECK_USE_HOST_IP: 'true' },
  phoenixnap: {},
  scaleway: { SCW_LOAD_BALANCER: 'none', SCW_FIP_TAG: tag, SCW_FIP_HEALTH_CHECK_USE_HOST_IP: 'true' },
}[dialect.name]

export const probeIntervalMs = 250
/** The number of successive good answers that make a node a candidate. */
const probeSuccesses = 4

export type GuardedNode = { name: string; machine: string; gate: Gate; proxy: TcpProxy }

export type Guardian = Product & { node: GuardedNode; logFile: string }

/** Opens such a cluster. The address is assigned to the first node. */
export async function openGuardedStage() {
  const guardian = serviceAccountUser('eip-admission', names.guardian)
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:eip-admission', 'system:authenticated']
  const stage = await openStage({ users: { [guardian]: groups } })
  const { control } = stage.cloud
  const apiPort = Number(new URL(stage.controlPlane.url).port)
  const [port = 0] = await freePorts(1)
  const ordered = await stage.order([tag])

  const nodes: GuardedNode[] = []
  for (const [n, name] of ['cp-a', 'cp-b', 'cp-c'].entries()) {
    const machine = String(control.devices.add({ hostname: name })['id'])
    const gate = await openGate({
      address: `127.0.0.${n + 2}`,
      port,
      target: stage.controlPlane.url,
      dir: stage.controlPlane.dir,
    })
    nodes.push({ name, machine, gate, proxy: await openTcpProxy(apiPort) })
    await stage.client.create(nodeResource, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'node-role.kubernetes.io/control-plane': '' } },
      spec: { providerID: `${dialect.scheme}${machine}` },
    })
    const addresses = [{ type: 'InternalIP', address: gate.address }]
    await stage.client.patch(
      nodeResource,
      { name, patch: { merge: { status: { addresses } } } },
      { subresource: 'status' },
    )
  }
  // The sandbox's API server does not publish its address, and its validation forbids loopback addresses there.
  await stage.run('delete', 'endpoints', 'kubernetes', '--ignore-not-found')
  const created = await stage.kubectl(['create', '-f', '-'], {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'] }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  })
  if (created.code !== 0) throw new Error(created.stderr)
  const holderIds = () => dialect.holdersOf(control, ordered.address)
  const nameOf = (machine: string) => nodes.find((node) => node.machine === machine)?.name ?? machine
  control.reservations.assign(ordered.id, nodes[0]?.machine)
  const guardians: Guardian[] = []
  let ports = await freePorts(40)
  const start = (node: GuardedNode, flags: string[]): Guardian => {
    const logFile = stage.logOf(`guardian-${node.name}`)
    const [health = 0, ...rest] = ports
    ports = rest
    const product = startProduct({
      dialect: dialect.name,
      kubeconfig: stage.controlPlane.kubeconfigFor(guardian),
      cloud: { url: stage.cloud.url, project: stage.project, token: stage.token },
      ports: { webhook: 1, health },
      logFile,
      env: settings,
      flags: [
        '--only=control-plane',
        `--node-name=${node.name}`,
        `--api-server=https://127.0.0.1:${node.proxy.port}`,
        '--control-plane-cooldown=1s',
        `--control-plane-probe-interval=${probeIntervalMs}ms`,
        `--control-plane-probe-successes=${probeSuccesses}`,
        // Long enough that a leader on a busy machine keeps its lease, unless a test takes it.
        '--control-plane-lease-duration=6s',
        '--control-plane-renew-deadline=5s',
        '--control-plane-read-interval=1s',
        '--v=2',
        ...flags,
      ],
    })
    return { ...product, node, logFile }
  }

  /** How often each running guardian has probed each of these nodes with this result. */
  const probed = async (names: string[], result: ProbeResult) => {
    const texts = await Promise.all(guardians.filter((one) => one.isRunning()).map(textOf))
    return texts.flatMap((text) => names.map((name) => countOf(text, name, result)))
  }

  return {
    ...stage,
    /** Waits until every guardian has probed each of these nodes this many more times with this result. */
    async untilProbed(of: GuardedNode[], result: ProbeResult, times: number = probeSuccesses + 1): Promise<void> {
      const names = of.map(({ name }) => name)
      const before = await probed(names, result)
      await eventually(`${times} probes of ${names.join(', ')} ${result}`, async () => {
        const now = await probed(names, result)
        return now.every((count, n) => count - (before[n] ?? 0) >= times) || undefined
      })
    },
    /** Waits until the leading guardian knows the holder, and returns the holder. */
    async untilSettled(): Promise<GuardedNode> {
      const settled = await eventually('the leader knows the holder', async () => {
        const [holder, ...others] = holderIds()
        const node = nodes.find(({ machine }) => machine === holder)
        if (!node || others.length > 0) return undefined
        const texts = await Promise.all(guardians.filter((one) => one.isRunning()).map(textOf))
        return texts.some((text) => text.includes(`control_plane_holder{node="${node.name}"} 1`)) ? node : undefined
      })
      return settled
    },
    address: ordered,
    tag,
    nodes,
    guardians,
    /** The names of the nodes to which the cloud assigned the address. */
    holders: () => holderIds().map(nameOf),
    assign: (node: GuardedNode | undefined) => control.reservations.assign(ordered.id, node?.machine),
    holderBecomes: (name: string, ms?: number) =>
      eventually(`${name} is the holder`, () => (holderIds().map(nameOf).join() === name ? true : undefined), ms),
    /** The guardian that may move the address. */
    async leader(): Promise<Guardian | undefined> {
      for (const guardian of guardians.filter((one) => one.isRunning())) {
        const metrics = await guardian.health('/metrics').catch(() => undefined)
        if (metrics?.text.includes('control_plane_leader 1')) return guardian
      }
      return undefined
    },
    begin: start,
    async guard(node: GuardedNode): Promise<Guardian> {
      const started = start(node, [])
      await waitUntilReady(started, started.logFile)
      for (const [n, former] of guardians.entries()) if (former.node === node) guardians.splice(n, 1)
      guardians.push(started)
      return started
    },
    async close() {
      for (const one of guardians) one.signal('SIGCONT')
      for (const one of guardians) if (one.isRunning()) await one.stop('SIGTERM', 60_000)
      for (const { gate, proxy } of nodes) await Promise.all([gate.close(), proxy.close()])
      await stage.stop()
      for (const { logFile } of guardians) checkLog(readFileSync(logFile, 'utf8'), stage.token)
    },
  }
}

export type ProbeResult = 'ok' | 'failed'

/** The metrics of a guardian; empty while it does not answer. */
async function textOf(guardian: Guardian): Promise<string> {
  return (await guardian.health('/metrics').catch(() => undefined))?.text ?? ''
}

function countOf(metrics: string, node: string, result: ProbeResult): number {
  return Number(metrics.match(new RegExp(`probes_total\\{node="${node}",result="${result}"\\} (\\d+)`))?.[1] ?? 0)
}

function checkLog(log: string, secret: string): void {
  assert.is(log.match(/.*cannot .* (resource|API group).*/)?.[0], undefined, 'the roles of a guardian lack a right')
  assert.is(log.match(/.*(UnhandledPromise|TypeError|ReferenceError).*/)?.[0], undefined)
  assert.not(log.includes(secret), 'a secret is in the log')
}
