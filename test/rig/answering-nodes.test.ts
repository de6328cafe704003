// Which nodes answer for the address of a Service: the table in docs/guides/hetzner.md. It depends on where the address is on
// the node, and on how the network looks for it. IPVS is not in every kernel.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpointSlices, nodes } from '../../kube/resource.ts'
import { type Child, startChild } from '../../sandbox/child.ts'
import { podPort, setAssignedRig } from '../../sandbox/assigned/rig.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { openStage } from '../whole/test-stage.ts'

const node = { name: 'node-a', address: '10.0.0.2', pod: '10.244.0.2' }
const families = {
  IPv4: { address: '203.0.113.96', host: node.address, pod: node.pod, url: 'http://203.0.113.96/' },
  IPv6: { address: '2001:db8:9::1', host: '2001:db8:1::2', pod: '2001:db8:244::2', url: 'http://[2001:db8:9::1]/' },
} as const
type Family = keyof typeof families

/** `kube-ipvs0` stands for any interface except the uplink: IPVS puts the addresses of Services on it. */
const places = ['no interface', 'lo', 'kube-ipvs0', 'uplink'] as const
type Row = [family: Family, on: (typeof places)[number], arp: 'usual' | 'strictARP', isFound: boolean]

/** Whether a network that resolves the address by ARP or neighbour discovery finds the node. */
const rows: Row[] = [
  ['IPv4', 'no interface', 'usual', false],
  ['IPv4', 'lo', 'usual', true],
  ['IPv4', 'lo', 'strictARP', false],
  ['IPv4', 'kube-ipvs0', 'usual', true],
  ['IPv4', 'kube-ipvs0', 'strictARP', false],
  ['IPv4', 'uplink', 'usual', true],
  ['IPv4', 'uplink', 'strictARP', true],
  ['IPv6', 'no interface', 'usual', false],
  ['IPv6', 'lo', 'usual', false],
  ['IPv6', 'kube-ipvs0', 'usual', false],
  ['IPv6', 'uplink', 'usual', true],
  ['IPv6', 'uplink', 'strictARP', true],
]

const run = promisify(execFile)
const router = (...args: string[]) => run('ip', args)
const onNode = (...args: string[]) => run('ip', ['-n', node.name, ...args])

const notFound = 'EHOSTUNREACH'

/** Returns the pod that answers, or the code of the failure. */
async function answerOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { headers: { connection: 'close' } })
    return ((await answer.json()) as { pod: string }).pod
  } catch (error) {
    return error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined
  }
}

for (const mode of ['nftables', 'iptables'] as const)
  test(`with ${mode}, a network that sends packets to the node needs no address there, and one that asks for it may`, async () => {
    const stage = await openStage({ dialect: 'hetzner', serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'] })
    const rig = await setAssignedRig({ controlPlane: stage.controlPlane, mode, routes: () => new Map() })
    let podOf6: Child | undefined
    try {
      await stage.client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node.name },
        spec: {},
        status: { addresses: [{ type: 'InternalIP', address: node.address }] },
      })
      await rig.start(node)
      const { address, host, pod } = families.IPv6
      await router('address', 'add', `${host.slice(0, -1)}1/64`, 'dev', `to-${node.name}`, 'nodad')
      await onNode('address', 'add', `${host}/64`, 'dev', 'uplink', 'nodad')
      await onNode('address', 'add', `${pod}/128`, 'dev', 'lo')
      await onNode('link', 'add', 'kube-ipvs0', 'type', 'bridge')
      await onNode('link', 'set', 'kube-ipvs0', 'up')
      const program = [join(import.meta.dirname, '../../sandbox/assigned/pod.ts'), node.name, pod, String(podPort)]
      podOf6 = startChild(rig.network.on(node.name, [process.execPath, ...program]))
      await createService(stage, [families.IPv4.address, address])
      for (const row of rows) await check(row)
    } finally {
      await podOf6?.stop('SIGKILL')
      await rig.stop()
      await stage.close()
    }
  })

async function createService(stage: Awaited<ReturnType<typeof openStage>>, addresses: string[]): Promise<void> {
  const ports = [{ port: 80, targetPort: podPort }]
  const spec = { ports, ipFamilyPolicy: 'RequireDualStack', allocateLoadBalancerNodePorts: false }
  await stage.create(loadBalancer('web', { spec }))
  for (const addressType of ['IPv4', 'IPv6'] as const)
    await stage.client.create(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'default',
        name: `web-${addressType.toLowerCase()}`,
        labels: { 'kubernetes.io/service-name': 'web' },
      },
      addressType,
      endpoints: [{ addresses: [families[addressType].pod], nodeName: node.name, conditions: { ready: true } }],
      ports: [{ name: '', port: podPort, protocol: 'TCP' }],
    })
  const status = { loadBalancer: { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) } }
  await stage.run('patch', 'service', 'web', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
}

async function check([family, on, arp, isFound]: Row): Promise<void> {
  const { address, host, url } = families[family]
  const range = `${address}/${family === 'IPv4' ? 32 : 128}`
  const values = arp === 'strictARP' ? '1 > arp_ignore; echo 2' : '0 > arp_ignore; echo 0'
  await run('ip', [
    'netns',
    'exec',
    node.name,
    'sh',
    '-c',
    `cd /proc/sys/net/ipv4/conf/all; echo ${values} > arp_announce`,
  ])
  if (on !== 'no interface') await onNode('address', 'add', range, 'dev', on, ...(family === 'IPv6' ? ['nodad'] : []))
  const to = ['dev', `to-${node.name}`]
  const what = `${family} on ${on}, ${arp}`
  await router('route', 'replace', range, 'via', host, ...to, 'onlink')
  await eventually(
    `the node answers what is sent to it: ${what}`,
    async (observe) => observe(await answerOf(url)) === node.name || undefined,
  )
  await router('route', 'replace', range, ...to)
  assert.is(await answerOf(url), isFound ? node.name : notFound, `a network that asks who has it: ${what}`)
  await router('route', 'del', range)
  await router('neighbour', 'flush', ...to)
  if (on !== 'no interface') await onNode('address', 'del', range, 'dev', on)
}

test.run()
