// Our filter for Calico in BIRD, which Calico runs: its rules as confd 3.32 translates them, and real routers.
// Two nodes have a mesh between them. Calico itself does not run.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../kube/objects.ts'
import { calicoObjects } from '../../announcers/calico/objects.ts'
import type { BGPFilter, BGPPeer } from '../../announcers/calico/resources.ts'
import { startChild } from '../../sandbox/child.ts'
import { findBird } from '../../sandbox/rig/bird.ts'
import { queryBird } from '../../sandbox/rig/bird-control.ts'
import { createNetwork } from '../../sandbox/rig/network.ts'
import { providers } from '../../sandbox/rig/providers.ts'
import { startRouters } from '../../sandbox/rig/routers.ts'
import { makeNode } from '../announcers/states.ts'
import { eventually } from '../whole/eventually.ts'

const provider = providers['equinix-metal']
const address = '203.0.113.7'
const machines = { 'node-a': '10.0.1.1', 'node-b': '10.0.1.2' }
type NodeName = keyof typeof machines

type Rules = BGPFilter['spec']['exportV4']

/** A rule as confd writes it into a function of BIRD. */
function statement({ action, source, cidr }: Rules[number]): string {
  const conditions = [
    ...(cidr === undefined ? [] : [`(net = ${cidr})`]),
    ...(source === undefined ? [] : ['((defined(source))&&(source ~ [ RTS_BGP ]))']),
  ]
  const then = `${action.toLowerCase()};`
  return conditions.length === 0 ? then : `if (${conditions.join('&&')}) then { ${then} }`
}

/** The configuration of a node: the peers that we wrote, its mesh, and the Service if it has an endpoint of it. */
function configOf(
  node: NodeName,
  objects: readonly KubeObject[],
  { rules, serves }: { rules: Rules; serves: boolean },
) {
  const own = machines[node]
  const others = Object.values(machines).filter((one) => one !== own)
  const peers = objects.filter((one): one is BGPPeer => one.kind === 'BGPPeer' && (one as BGPPeer).spec.node === node)
  return `
router id ${own};
protocol device { scan time 2; }
protocol static { ipv4; ${serves ? `route ${address}/32 blackhole;` : ''} }
function export_ours() { ${rules.map(statement).join(' ')} }
${others.map((other, n) => `protocol bgp mesh${n} { strict bind yes; local ${own} as 64512; neighbor ${other} as 64512; ipv4 { import all; export all; }; }`).join('\n')}
${peers
  .map(
    ({ spec }, n) => `protocol bgp cloud${n} {
  strict bind yes; local ${own} as ${spec.localASNumber}; neighbor ${spec.peerIP} as ${spec.asNumber}; multihop; connect delay time 1;
  ipv4 { import none; export filter { export_ours(); reject; }; };
}`,
  )
  .join('\n')}
`
}

async function onNodes(
  select: (rules: Rules) => Rules,
  play: (seen: {
    ways: () => Promise<string[]>
    meshed: () => Promise<string[]>
    sessions: () => Promise<number>
  }) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-calico-'))
  mkdirSync(join(dir, 'logs'))
  const state = {
    addresses: [{ address, services: ['default/web'] }],
    nodes: Object.entries(machines).map(([name, sourceAddress]) => makeNode(name, { sourceAddress })),
  }
  const objects = calicoObjects({ namespace: 'calico-system' })
    .objects(state, [])
    .wanted.map(({ object }) => object)
  const filter = objects.find((one): one is BGPFilter => one.kind === 'BGPFilter')
  const network = await createNetwork(provider)
  const routers = await startRouters({ dir, provider })
  const bird = await findBird()
  for (const one of Object.values(machines)) await network.addMachine(one)
  const nodes = (['node-a', 'node-b'] as const).map((name) => {
    const [config, socket] = [join(dir, `${name}.conf`), join(dir, `${name}.ctl`)]
    const rules = select(filter?.spec.exportV4 ?? [])
    writeFileSync(config, configOf(name, objects, { rules, serves: name === 'node-a' }))
    const env = { ...process.env, ...bird.env }
    const command = [bird.program, '-f', '-c', config, '-s', socket]
    return { socket, child: startChild(command, { logFile: join(dir, 'logs', `${name}.log`), env }) }
  })
  try {
    await play({
      ways: async () =>
        (await routers.routes()).map(({ router, prefix, via }) => `${router} ${prefix} ${via}`).toSorted(),
      sessions: async () => (await routers.sessions()).length,
      meshed: () => queryBird(nodes[1]?.socket ?? '', `show route for ${address}/32`).catch(() => []),
    })
  } finally {
    await Promise.all(nodes.map(({ child }) => child.stop('SIGTERM', 2_000)))
    await routers.stop()
    await network.remove()
  }
  rmSync(dir, { recursive: true })
}

const leading = (...names: NodeName[]) =>
  provider.routers
    .flatMap((router) => names.map((name) => `${router} ${address}/32 ${machines[name]}`))
    .toSorted()
    .join()

test('only the node with the endpoint announces the address, although the other has learned it in the mesh', () =>
  onNodes(
    (rules) => rules,
    async ({ ways, meshed, sessions }) => {
      await eventually(
        'both nodes speak with both routers',
        async (observe) => observe(await sessions()) === 4 || undefined,
      )
      await eventually('the other node has learned it', async (observe) => {
        return observe(await meshed()).some((line) => line.includes('mesh0')) || undefined
      })
      await eventually('the routers have one way each', async (observe) => {
        return observe(await ways()).join() === leading('node-a') || undefined
      })
      // Long enough for the other node to announce it, too, as the next test shows.
      await sleep(2_000)
      assert.is((await ways()).join(), leading('node-a'))
    },
  ))

test('without the first rule of the filter both nodes announce it', () =>
  onNodes(
    (rules) => rules.filter(({ source }) => source === undefined),
    async ({ ways }) => {
      await eventually('the routers have two ways each', async (observe) => {
        return observe(await ways()).join() === leading('node-a', 'node-b') || undefined
      })
    },
  ))

test.run()
