// The calls of Equinix Metal's program.
import { type Machine, type PredecessorCloud, type SettingsFile, bodyOf, senderOf } from './cloud.ts'

type Ip = { id: string; address: string; tags?: string[] }
type Block = { network?: string; cidr?: number }
type DeviceIp = {
  address: string
  address_family: number
  public: boolean
  management: boolean
  parent_block?: Block | null
}
type Device = {
  id: string
  hostname: string
  ip_addresses: DeviceIp[]
  plan: { slug: string }
  metro?: { code: string }
  facility?: { code: string }
}
type Neighbor = {
  address_family: number
  customer_as: number
  customer_ip: string
  peer_as: number
  peer_ips: string[]
  md5_password?: string | null
}

/** The cloud as Equinix Metal's program sees it. */
export function equinixMetal(settings: SettingsFile): PredecessorCloud {
  const { projectID, metro } = settings
  const send = senderOf(settings, { 'x-auth-token': settings.apiKey })
  return {
    async enableProject() {
      const config = bodyOf(await send('GET', `/projects/${projectID}/bgp-config`)) as { id?: string; status?: string }
      if (config.id !== undefined && config.status !== 'disabled') return
      const given = { asn: 65_000, ...(settings.bgpPass !== undefined && { md5: settings.bgpPass }) }
      const request = { ...given, deployment_type: 'local', use_case: 'kubernetes-load-balancer' }
      bodyOf(await send('POST', `/projects/${projectID}/bgp-configs`, request))
    },
    async machineNamed(hostname) {
      const { devices } = bodyOf(await send('GET', `/projects/${projectID}/devices`)) as { devices: Device[] }
      const device = devices.find((one) => one.hostname === hostname)
      return device && machineFrom(device)
    },
    async machineOf(providerID) {
      const include = 'include=ip_addresses.parent_block,parent_block,facility,metro,plan'
      const answer = await send('GET', `/devices/${idOf(providerID)}?${include}`)
      return answer.status === 404 ? undefined : machineFrom(bodyOf(answer) as Device)
    },
    async session(providerID) {
      const device = idOf(providerID)
      const answer = await send('POST', `/devices/${device}/bgp/sessions`, { address_family: 'ipv4' })
      const isThere = answer.status === 422 && JSON.stringify(answer.body).includes('already has session')
      if (!isThere) bodyOf(answer)
      const { bgp_neighbors: neighbors } = bodyOf(await send('GET', `/devices/${device}/bgp/neighbors`)) as {
        bgp_neighbors: Neighbor[]
      }
      const neighbor = neighbors.find(({ address_family }) => address_family === 4)
      if (!neighbor) throw new Error(`device ${device} has no IPv4 neighbour`)
      return {
        localAsn: neighbor.customer_as,
        peerAsn: neighbor.peer_as,
        peers: neighbor.peer_ips.toSorted(),
        sourceAddress: neighbor.customer_ip,
        password: neighbor.md5_password ?? undefined,
      }
    },
    async reservations() {
      const { ip_addresses: ips } = bodyOf(await send('GET', `/projects/${projectID}/ips`)) as { ip_addresses: Ip[] }
      return ips.map(reservationFrom)
    },
    async reserve(tags) {
      const details = 'Equinix Metal Kubernetes CCM auto-generated for Load Balancer'
      const place = { type: 'public_ipv4', quantity: 1, metro, details, tags, fail_on_approval_required: true }
      return reservationFrom(bodyOf(await send('POST', `/projects/${projectID}/ips`, place)) as Ip)
    },
    remove: async (id) => void bodyOf(await send('DELETE', `/ips/${id}`)),
  }
}

function reservationFrom({ id, address, tags = [] }: Ip) {
  return { id, address, has: (tag: string) => tags.includes(tag) }
}

function machineFrom({ id, hostname, ip_addresses: ips, plan, metro, facility }: Device): Machine {
  const ipv4 = ips.filter((one) => one.address_family === 4)
  const block = ipv4.find((one) => !one.public && one.management)?.parent_block
  return {
    providerID: `equinixmetal://${id}`,
    addresses: [
      { type: 'Hostname', address: hostname },
      ...ipv4.map((one) => ({
        type: one.public ? ('ExternalIP' as const) : ('InternalIP' as const),
        address: one.address,
      })),
    ],
    type: plan.slug,
    region: metro?.code ?? '',
    zone: facility?.code,
    // A list shows the block as a link alone.
    privateNetwork: block?.network === undefined ? undefined : `${block.network}/${block.cidr}`,
  }
}

function idOf(providerID: string): string {
  return providerID.split('://').at(-1) ?? ''
}
