// The simulated clouds of a cluster: a server for each node, the route of packets to an address, and the chart's
// values.
import { type Console, makeConsole } from '../control-planes/console.ts'
import { startCherryServers } from '../clouds/cherry-servers/server.ts'
import type { AccountControl, CloudControl, Json } from '../clouds/control.ts'
import { startHetzner } from '../clouds/hetzner/server.ts'
import { type Provider, providers } from '../rig/providers.ts'

export type CloudMachine = {
  name: string
  /** The addresses of its interface. The first is the source of its packets, except of replies from another one. */
  addresses: string[]
  /** The internal address of its node. */
  address: string
}

/** Whether a machine has a control plane, by its name. */
export const hasControlPlane = ({ name }: Pick<CloudMachine, 'name'>) => name.startsWith('control-')

export type ClusterCloud = {
  url: string
  control: CloudControl
  /** Where people control the cloud. */
  controlUrl: string
  machines: CloudMachine[]
  /** The values of the chart, and the fields of the provider's Secret. */
  cloudProvider: string
  settings: Record<string, string>
  secret: Record<string, string>
  /** The address of the API servers, which the cloud assigns to the first machine. */
  controlPlaneAddress?: string
  /** How packets find an address: the machine to which the cloud routes it now, or routers that learn it by BGP. */
  way: { routes: () => ReadonlyMap<string, string | undefined> } | { bgp: Provider; show: (learned: Learned[]) => void }
  close(): Promise<void>
}

/** The sessions of a machine with routers, and the prefixes that it announces to them. */
export type Learned = { machine: string; sessions: number; routes: string[] }

export type CloudOptions = { host: string; tls: { cert: string; key: string }; ca: string; names: string[] }

/** More addresses than a new project may have. */
const quota = 2000
const token = 't'.repeat(64)

/** Opens a cloud with running servers. */
export const clusterClouds = { 'cherry-servers': openCherryServers, hetzner: openHetzner }

export type ClusterCloudName = keyof typeof clusterClouds

export const isClusterCloud = (name: string): name is ClusterCloudName => Object.hasOwn(clusterClouds, name)

async function openHetzner({ host, tls, ca, names }: CloudOptions): Promise<ClusterCloud> {
  const cloud = await startHetzner({ host, tls, tokens: [{ token, label: 'full', projects: [1] }], quota })
  const { control } = cloud
  const servers = order(control, names) as { name: string; shown: { id: number; private_net: { ip: string }[] } }[]
  const nameOf = new Map(servers.map(({ name, shown }) => [String(shown.id), name]))
  const [first, ...others] = servers.filter(hasControlPlane)
  const console = makeConsole({ url: cloud.url, ca, headers: { authorization: `Bearer ${token}` } })
  const guarded = first && others.length > 0 && { controlPlaneAddress: await reserveAt(first.shown.id, console) }
  return {
    ...cloud,
    ...guarded,
    machines: servers.map(({ name, shown }) => {
      const address = shown.private_net[0]?.ip ?? ''
      return { name, address, addresses: [address] }
    }),
    cloudProvider: 'hetzner',
    settings: { location: 'fsn1', loadbalancer: 'assign:///', ...(guarded && { 'fip-label': 'role=control-plane' }) },
    secret: { token },
    way: {
      routes() {
        const all = control.reservations.all() as { ip: string; type: string }[]
        const addresses = all.filter(({ type }) => type === 'ipv4').map(({ ip }) => ip)
        return new Map(addresses.map((ip) => [ip, nameOf.get(control.route(ip) ?? '')]))
      },
    },
  }
}

/** Reserves the address of the API servers, as a person does. */
async function reserveAt(server: number, console: Console): Promise<string> {
  const body = { type: 'ipv4', server, labels: { role: 'control-plane' } }
  const { floating_ip: reserved } = await console('POST', '/floating_ips', body)
  return (reserved as { ip: string }).ip
}

async function openCherryServers({ host, tls, names }: CloudOptions): Promise<ClusterCloud> {
  const project = 218_450
  const tokens = [{ token, label: 'full', projects: [project] }]
  const callLimit = { calls: 4, perMs: 1000 }
  const cloud = await startCherryServers({ host, tls, projects: [{ id: project }], tokens, callLimit, quota })
  return {
    ...cloud,
    machines: order(cloud.control, names).map(({ name, shown }) => {
      const own = shown['ip_addresses'] as { address: string; type: string }[]
      const addressOf = (type: string) => own.find((one) => one.type === type)?.address ?? ''
      // The routers expect a session from the public address.
      const [address, source] = [addressOf('private-ip'), addressOf('primary-ip')]
      return { name, address, addresses: [source, address] }
    }),
    cloudProvider: 'cherryservers',
    settings: { region: 'LT-Siauliai', loadbalancer: 'metallb:///' },
    secret: { apiKey: token, projectID: String(project) },
    way: {
      bgp: providers['cherry-servers'],
      show(learned) {
        for (const { id, hostname, bgp } of cloud.control.devices.all()) {
          const of = learned.find(({ machine }) => machine === hostname)
          if (of && (bgp as { enabled: boolean }).enabled)
            cloud.control.bgp.setSession(String(id), { connected: of.sessions, routes: of.routes })
        }
      },
    },
  }
}

/** Orders a server for each name. */
function order(control: AccountControl, names: string[]): { name: string; shown: Json }[] {
  return names.map((name) => ({ name, shown: control.devices.add({ hostname: name }) }))
}
