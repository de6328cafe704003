// kube-vip on a machine of the rig: the program that KUBE_VIP_BIN names, or one that reads as it does and speaks by BIRD.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Node, Service } from '../../kube/objects.ts'
import { startChild } from '../../sandbox/child.ts'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'
import { type Administrator, makeAdministrator } from '../../sandbox/rig/administrator.ts'
import { findBird } from '../../sandbox/rig/bird.ts'
import { queryBird } from '../../sandbox/rig/bird-control.ts'
import { readNode, type Speaking } from '../announcers/kube-vip-node.ts'
import { readService } from '../announcers/kube-vip-service.ts'

export type KubeVip = { stop(): Promise<void> }

/** On which node it is, and what the annotations begin with that it reads there. */
export type Reading = { node: string; prefix: string }

const release = '1.2.0'

/** The program, since 1.2, as its DaemonSet for the addresses of Services starts it. */
export function startKubeVip(program: string, { node, prefix }: Reading, { dir, kubeconfig }: ControlPlane): KubeVip {
  const child = startChild([program, 'manager'], {
    logFile: join(dir, 'logs', `kube-vip-${node}.log`),
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      annotation: prefix,
      bgp_enable: 'true',
      svc_enable: 'true',
      cp_enable: 'false',
      vip_arp: 'false',
      vip_interface: 'lo',
      vip_nodename: node,
      k8s_config_file: kubeconfig,
      prometheus_server: '127.0.0.1:2112',
    },
  })
  return { stop: async () => void (await child.stop('SIGTERM', 5000)) }
}

/** Reads the Node once it says enough, and Services for ever, by the rules that we hold for kube-vip's. */
export async function startStandIn({ node, prefix }: Reading, controlPlane: ControlPlane): Promise<KubeVip> {
  const administrator = makeAdministrator(controlPlane)
  const bird = await findBird()
  const [config = '', socket = '', logFile = ''] = ['conf', 'ctl', 'log'].map((kind) =>
    join(controlPlane.dir, kind === 'log' ? 'logs' : '', `kube-vip-${node}.${kind}`),
  )
  const speaking = await spokenBy({ node, prefix }, administrator)
  const write = (addresses: string[]) => writeFileSync(config, birdConfig(speaking, addresses), { mode: 0o600 })
  write([])
  const child = startChild([bird.program, '-f', '-c', config, '-s', socket], {
    logFile,
    env: { ...process.env, ...bird.env },
  })
  const stopping = new AbortController()
  const following = follow(administrator, stopping.signal, async (addresses) => {
    write(addresses)
    await queryBird(socket, 'configure')
  })
  return {
    async stop() {
      stopping.abort()
      try {
        await following
      } finally {
        await child.stop('SIGTERM', 2000)
      }
    },
  }
}

async function spokenBy({ node: name, prefix }: Reading, { run }: Administrator): Promise<Speaking> {
  for (let tries = 0; tries < 100; tries += 1) {
    const node = JSON.parse(await run(['get', 'node', name, '-o', 'json'])) as Node
    const speaking = readNode(node.metadata.annotations ?? {}, { release, prefix })
    if (speaking) return speaking
    await sleep(100)
  }
  throw new Error(`node ${name} does not say whom to speak BGP with`)
}

async function follow({ run }: Administrator, signal: AbortSignal, announce: (addresses: string[]) => Promise<void>) {
  let announced = ''
  while (!signal.aborted) {
    const { items } = JSON.parse(await run(['get', 'services', '-A', '-o', 'json'])) as { items: Service[] }
    const addresses = items.flatMap((service) => readService(service, release)).toSorted()
    if (addresses.join() !== announced) await announce(addresses)
    announced = addresses.join()
    await sleep(100)
  }
}

function birdConfig(speaking: Speaking, addresses: string[]): string {
  const { routerId, sourceAddress, localAsn, peerAsn, peers, password, timeToLive } = speaking
  const sessions = peers.map(
    (peer, n) => `
protocol bgp peer${n} {
  local ${sourceAddress} as ${localAsn};
  neighbor ${peer} as ${peerAsn};
  multihop ${timeToLive};
  connect delay time 1;
  ${password === undefined ? '' : `password "${password}";`}
  ipv4 { import none; export where source = RTS_STATIC; next hop self; };
}`,
  )
  return `
log stderr all;
router id ${routerId};
protocol device {}
protocol static { ipv4; ${addresses.map((address) => `route ${address}/32 blackhole;`).join(' ')} }
${sessions.join('\n')}
`
}
