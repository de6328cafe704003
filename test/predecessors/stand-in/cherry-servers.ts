// The calls of Cherry Servers' program.
import { type Machine, type PredecessorCloud, type SettingsFile, bodyOf, senderOf } from './cloud.ts'

type Ip = { id: string; address: string; tags?: Record<string, string> }
type Server = {
  id: number
  hostname: string
  ip_addresses?: { address: string; address_family: number; type: string }[]
  plan: { id: number; name: string }
  region: { slug: string; bgp: { hosts: string[]; asn: number } }
  bgp: { enabled: boolean }
  tags: Record<string, string>
}
type Project = { name: string; bgp: { enabled: boolean; local_asn: number } }

/** The cloud as Cherry Servers' program sees it. */
export function cherryServers(settings: SettingsFile): PredecessorCloud {
  const { projectID, region } = settings
  const send = senderOf(settings, { authorization: `Bearer ${settings.apiKey}` })
  const project = async () => bodyOf(await send('GET', `/projects/${projectID}`)) as Project
  const server = async (providerID: string) => send('GET', `/servers/${idOf(providerID)}`)
  let localAsn = 0
  return {
    async enableProject() {
      const { name, bgp } = await project()
      localAsn = bgp.local_asn
      if (bgp.enabled) return
      const changed = bodyOf(await send('PUT', `/projects/${projectID}`, { name, bgp: true })) as Project
      localAsn = changed.bgp.local_asn
    },
    async machineNamed(hostname) {
      const all = bodyOf(await send('GET', `/projects/${projectID}/servers`)) as Server[]
      const found = all.find((one) => one.hostname === hostname)
      return found && machineFrom(found)
    },
    async machineOf(providerID) {
      const answer = await server(providerID)
      return answer.status === 404 ? undefined : machineFrom(bodyOf(answer) as Server)
    },
    async session(providerID) {
      const { bgp, tags, region: place, ip_addresses: ips = [] } = bodyOf(await server(providerID)) as Server
      if (!bgp.enabled) bodyOf(await send('PUT', `/servers/${idOf(providerID)}`, { tags, bgp: true }))
      // The real one reads it once, at the start: a project without BGP has none until its first server does.
      if (localAsn === 0) ({ local_asn: localAsn } = (await project()).bgp)
      if (localAsn === 0) throw new Error('the project has no ASN yet')
      const sourceAddress = ips.find(({ type }) => type === 'primary-ip')?.address ?? ''
      return { localAsn, peerAsn: place.bgp.asn, peers: place.bgp.hosts.toSorted(), sourceAddress }
    },
    async reservations() {
      return (bodyOf(await send('GET', `/projects/${projectID}/ips`)) as Ip[]).map(reservationFrom)
    },
    async reserve(tags) {
      const map = Object.fromEntries(tags.map((tag) => tag.split(/=(.*)/s)))
      return reservationFrom(bodyOf(await send('POST', `/projects/${projectID}/ips`, { region, tags: map })) as Ip)
    },
    remove: async (id) => void bodyOf(await send('DELETE', `/ips/${id}`)),
  }
}

function reservationFrom({ id, address, tags = {} }: Ip) {
  const all = new Set(Object.entries(tags).map(([name, value]) => `${name}=${value}`))
  return { id, address, has: (tag: string) => all.has(tag) }
}

function machineFrom({ id, hostname, ip_addresses: ips = [], plan, region }: Server): Machine {
  return {
    providerID: `cherryservers://${id}`,
    addresses: [
      { type: 'Hostname', address: hostname },
      ...ips
        .filter(({ address_family: family, type }) => family === 4 && type !== 'floating-ip')
        .map(({ address, type }) => ({
          type: type === 'private-ip' ? ('InternalIP' as const) : ('ExternalIP' as const),
          address,
        })),
    ],
    type: `${plan.id}-${plan.name.replaceAll(' ', '-')}`,
    region: region.slug,
  }
}

function idOf(providerID: string): string {
  return providerID.split('://').at(-1) ?? ''
}
