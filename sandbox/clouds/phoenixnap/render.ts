import type { Json } from '../control.ts'
import { addressesOf, blocksOf, isIn } from './blocks.ts'
import { usualAsn } from './peer-groups.ts'
import type { Block, Member, PeerGroup, PublicNetwork, Server, State, TagAssignment, TagName } from './state.ts'

const time = (ms: number) => new Date(ms).toISOString()

/** A tag name as the API shows it. */
export function renderTag(state: State, tag: TagName): Json {
  const uses = [
    ...[...state.blocks.values()].map(({ id, tags }) => ({ path: `/ips/ip-blocks/${id}`, tags })),
    ...[...state.servers.values()].map(({ id, tags }) => ({ path: `/bmc/servers/${id}`, tags })),
  ].flatMap(({ path, tags }) => tags.flatMap((one) => (one.tag === tag ? { path, value: one.value } : [])))
  return {
    id: tag.id,
    name: tag.name,
    values: [...new Set(uses.flatMap(({ value }) => value ?? []))],
    ...(tag.description && { description: tag.description }),
    isBillingTag: tag.isBillingTag,
    resourceAssignments: uses.map(({ path, value }) => ({ resourceName: path, ...(value && { value }) })),
    createdBy: 'USER',
  }
}

function renderAssignment({ tag: { id, name, isBillingTag }, value }: TagAssignment): Json {
  return { id, name, ...(value !== undefined && { value }), isBillingTag, createdBy: 'USER' }
}

/** A block as the API shows it. */
export function renderBlock({ behaviour }: State, block: Block): Json {
  const { id, location, size, cidr, version, status, user, description, tags, isSystemManaged, createdAtMs } = block
  const kind = user?.kind === 'network' ? behaviour.networkUser : 'server'
  return {
    id,
    location,
    cidrBlockSize: `/${size}`,
    cidr,
    ipVersion: version,
    status,
    ...(user && { assignedResourceId: user.id, assignedResourceType: kind }),
    ...(description && { description }),
    tags: tags.map(renderAssignment),
    isSystemManaged,
    isBringYourOwn: false,
    createdOn: time(createdAtMs),
  }
}

/** The fields that every server here has. */
const hardware = {
  os: 'debian/bookworm',
  type: 's2.c1.medium',
  cpu: 'E-2276G',
  cpuCount: 1,
  coresPerCpu: 6,
  cpuFrequency: 3.8,
  ram: '64GB RAM',
  storage: '1x 1TB NVMe',
  storageConfiguration: { rootPartition: { raid: 'NO_RAID', size: -1 } },
  pricingModel: 'HOURLY',
}

/** A server as the API shows it. It uses the second address of its block: the first is the gateway. */
export function renderServer(state: State, server: Server): Json {
  const { id, hostname, description, location, networkType, status, privateAddress, tags, createdAtMs } = server
  const blocks = blocksOf(state, id)
  const [gateway, ...own] = blocks.flatMap(addressesOf).slice(0, 2)
  const networks = networksOf(state, id)
  return {
    id,
    status,
    hostname,
    ...(description && { description }),
    ...hardware,
    location,
    privateIpAddresses: [privateAddress].filter((address) => address !== undefined),
    publicIpAddresses: [...own, ...networks.flatMap(({ ips }) => ips)],
    networkType,
    // The API shows it while the server is provisioned. No program may log it.
    ...(status === 'creating' && { password: 'invented-r00t-password' }),
    tags: tags.map(renderAssignment),
    provisionedOn: time(createdAtMs),
    networkConfiguration: {
      ...(gateway !== undefined && { gatewayAddress: gateway }),
      ipBlocksConfiguration: { ipBlocks: blocks.map((block, n) => ({ id: block.id, vlanId: 10 + n })) },
      privateNetworkConfiguration: { privateNetworks: privateNetworks(server) },
      publicNetworkConfiguration: { publicNetworks: networks },
    },
  }
}

function privateNetworks({ id, privateAddress }: Server): Json[] {
  if (privateAddress === undefined) return []
  return [{ id: `${id.slice(0, 20)}beef`, ips: [privateAddress], vlanId: 11, statusDescription: 'assigned' }]
}

/** The public networks of a server, with the addresses that it has there. */
function networksOf({ networks }: State, server: string) {
  return [...networks.values()].flatMap((network) =>
    network.members.filter((member) => member.server === server).map((member) => renderMember(network, member)),
  )
}

/** A public network as its server shows it. */
export function renderMember(
  { id, vlanId }: PublicNetwork,
  { ips }: Member,
  statusDescription: 'assigned' | 'in-progress' = 'assigned',
) {
  return { id, vlanId, ips, statusDescription }
}

/** A public network as the API shows it. */
export function renderNetwork(state: State, network: PublicNetwork): Json {
  const { id, name, location, vlanId, description, raEnabled, members, createdAtMs } = network
  return {
    id,
    vlanId,
    name,
    location,
    ...(description && { description }),
    status: 'READY',
    createdOn: time(createdAtMs),
    raEnabled,
    memberships: members.map(({ server, ips }) => ({ resourceId: server, resourceType: 'server', ips })),
    ipBlocks: blocksOf(state, id).map((block) => renderNetworkBlock(network, block)),
  }
}

/** A block as its public network shows it. */
export function renderNetworkBlock({ members }: PublicNetwork, block: Block): Json {
  const used = members.flatMap(({ ips }) => ips).filter((ip) => isIn(block, ip)).length
  return { id: block.id, cidr: block.cidr, usedIpsCount: String(used) }
}

/** A peer group as the API shows it, with its password in clear. */
export function renderPeerGroup(state: State, group: PeerGroup): Json {
  return {
    id: group.id,
    status: group.status,
    location: group.location,
    ...prefixesOf(state, group),
    targetAsnDetails: renderAsn(group.targetAsn, group.activeAsn),
    ...(group.activeAsn !== undefined && { activeAsnDetails: renderAsn(group.activeAsn, group.activeAsn) }),
    password: group.password,
    advertisedRoutes: group.advertisedRoutes,
    rpkiRoaOriginAsn: 64_999,
    eBgpMultiHop: 7,
    peeringLoopbacksV4: ['169.254.247.0', '169.254.247.1'],
    peeringLoopbacksV6: ['fd00:0:0:1005::1', 'fd00:0:0:1005::2'],
    keepAliveTimerSeconds: 10,
    holdTimerSeconds: 30,
    createdOn: time(group.createdAtMs),
    lastUpdatedOn: time(group.updatedAtMs),
  }
}

/** An ASN. A customer's own is verified before it becomes active. */
function renderAsn(asn: number, active: number | undefined): Json {
  const isBringYourOwn = asn !== usualAsn
  const verificationStatus = isBringYourOwn && asn !== active ? 'PENDING_VERIFICATION' : 'VERIFIED'
  return { asn, isBringYourOwn, verificationStatus }
}

/** The blocks that may be announced, in the current list and in the deprecated one. */
function prefixesOf({ behaviour, blocks }: State, { account, location }: PeerGroup): Json {
  const shown = [...blocks.values()]
    .filter((block) => block.account === account && block.location === location)
    .filter((block) => behaviour.prefixes === 'all' || block.status === 'unassigned')
  const ipv4 = shown.filter(({ version }) => version === 'V4')
  return {
    ipPrefixes: shown.map(({ id, cidr, version, prefixStatus }) => ({
      ipAllocationId: id,
      cidr,
      ipVersion: version,
      status: prefixStatus,
    })),
    ipv4Prefixes: ipv4.map(({ id, cidr, prefixStatus }) => ({
      ipv4AllocationId: id,
      cidr,
      status: prefixStatus,
      isBringYourOwnIp: false,
      inUse: true,
    })),
  }
}
