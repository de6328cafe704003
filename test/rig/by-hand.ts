// Objects that a person writes for MetalLB, in the language of each version.
import type { MetallbVersion } from '../../sandbox/metallb/build.ts'
import type { Administrator } from '../../sandbox/rig/administrator.ts'
import { providers } from '../../sandbox/rig/providers.ts'
import type { Machine } from '../../sandbox/rig/register-machine.ts'
import { password } from './stage.ts'

const namespace = 'metallb-system'
const { routers, asn, machines: ours } = providers['equinix-metal']

/** MetalLB of a version, as a person configures it. */
export type ByHand = {
  /** Configures sessions of some machines with every router, and a pool for each address. */
  configure(machines: Machine[], addresses: string[]): Promise<void>
  setPassword(text: string): Promise<void>
}

export function byHand(version: MetallbVersion, administrator: Administrator): ByHand {
  return version === '0.11.0' ? byDocument(administrator) : byObjects(administrator)
}

/** Up to 0.12: everything is one document, even the password. */
function byDocument({ apply }: Administrator): ByHand {
  const write = async (machines: Machine[], addresses: string[], shared: string) => {
    const peers = sessionsOf(machines).map(({ name, address, router }) => ({
      'my-asn': ours.asn,
      'peer-asn': asn,
      'peer-address': router,
      'source-address': address,
      'hold-time': '30s',
      password: shared,
      'node-selectors': [{ 'match-labels': { 'kubernetes.io/hostname': name } }],
    }))
    const pools = addresses.map((address) => ({
      name: `default/${address}`,
      protocol: 'bgp',
      addresses: [`${address}/32`],
      'auto-assign': false,
    }))
    const config = JSON.stringify({ peers, 'address-pools': pools })
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config', namespace }, data: { config } })
  }
  let written: [Machine[], string[]] = [[], []]
  return {
    async configure(...wanted) {
      written = wanted
      await write(...wanted, password)
    },
    setPassword: (text) => write(...written, text),
  }
}

/** From 0.13 on. */
function byObjects({ apply, run }: Administrator): ByHand {
  const setPassword = (text: string) =>
    apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bgp', namespace },
      type: 'kubernetes.io/basic-auth',
      stringData: { password: text },
    })
  return {
    setPassword,
    async configure(machines, addresses) {
      await setPassword(password)
      const items = [
        { ...made('BGPAdvertisement', 'everything', 'v1beta1'), spec: {} },
        ...addresses.map((address) => ({
          ...made('IPAddressPool', address, 'v1beta1'),
          spec: { addresses: [`${address}/32`], autoAssign: false },
        })),
        ...sessionsOf(machines).map((session) => ({
          ...made('BGPPeer', `${session.name}.${session.router}`, 'v1beta2'),
          spec: peer(session),
        })),
      ]
      await apply({ apiVersion: 'v1', kind: 'List', items })
      const gone = await run(['get', 'ipaddresspools', '-n', namespace, '-o', 'jsonpath={.items[*].metadata.name}'])
      for (const name of gone.split(' ').filter((one) => one !== '' && !addresses.includes(one))) {
        await run(['delete', 'ipaddresspool', name, '-n', namespace])
      }
    },
  }
}

type Session = Machine & { router: string }

function sessionsOf(machines: Machine[]): Session[] {
  return machines.flatMap((machine) => routers.map((router) => ({ ...machine, router })))
}

function made(kind: string, name: string, version: string) {
  return { apiVersion: `metallb.io/${version}`, kind, metadata: { name, namespace } }
}

function peer({ name, address, router }: Session) {
  return {
    myASN: ours.asn,
    peerASN: asn,
    peerAddress: router,
    sourceAddress: address,
    holdTime: '30s',
    ebgpMultiHop: true,
    passwordSecret: { name: 'bgp' },
    nodeSelectors: [{ matchLabels: { 'kubernetes.io/hostname': name } }],
  }
}
