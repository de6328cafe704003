// kube-vip on a machine of the rig: the program that KUBE_VIP_BIN names, or a stand-in that reads the same and speaks
// BGP with BIRD.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { Node } from '../../kube/objects.ts'
import { reflector } from '../../kube/reflector.ts'
import { services } from '../../kube/resource.ts'
import { startChild } from '../../sandbox/child.ts'
import type { ControlPlane } from '../../sandbox/control-plane/start.ts'
import { type Administrator, makeAdministrator } from '../../sandbox/rig/administrator.ts'
import { findBird } from '../../sandbox/rig/bird.ts'
import { queryBird, untilBirdAnswers } from '../../sandbox/rig/bird-control.ts'
import { readNode, type Speaking } from '../announcers/kube-vip-node.ts'
import { startedKubeVip } from '../announcers/kube-vip-process.ts'
import { silentLog } from '../fakes/log.ts'

export type KubeVip = { stop(): Promise<void> }

/** The node on which it runs, and the prefix of the annotations that it reads there. */
export type Reading = { node: string; prefix: string }

const release = '1.2.0'

/** Starts the program, 1.2 or later, as its DaemonSet for the addresses of Services does. */
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

/**
 * Starts the stand-in. It reads the Node once this has all annotations, and constantly reads Services, by the rules
 * that we believe to be kube-vip's.
 */
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
  await untilBirdAnswers(child, socket)
  const stopping = new AbortController()
  const following = follow(controlPlane, stopping.signal, async (addresses) => {
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

/** Follows every version of every Service, as kube-vip does: two writes in quick succession are two changes. */
async function follow(
  { kubeconfig: file }: ControlPlane,
  signal: AbortSignal,
  announce: (addresses: string[]) => Promise<void>,
): Promise<void> {
  const client = connect(kubeconfig({ file }), { userAgent: 'kube-vip' })
  const seen = reflector({ client, resource: services, log: silentLog })
  const kubeVip = startedKubeVip(release)
  let addresses: string[] = []
  seen.onChange(() => (addresses = kubeVip.see(seen.list())))
  seen.start(signal)
  for (let announced = ''; !signal.aborted; await sleep(100)) {
    const next = addresses
    if (next.join() !== announced) await announce(next)
    announced = next.join()
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
