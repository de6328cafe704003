import type { Host } from './address-space.ts'
import { badRequest } from './errors.ts'
import type { IpChange } from './ip-body.ts'
import type { Region } from './regions.ts'
import { type Ip, type IpType, type Project, type Server, type State, floatingIn, ipsOf, newIpId } from './state.ts'

/** Orders a floating IP: always a single IPv4 address, granted at once. */
export function orderIp(state: State, of: { project: Project; region: Region }, change: IpChange): Ip {
  const { project, region } = of
  if (floatingIn(state, project).length >= limitOf(state, project))
    throw badRequest('The limit of floating IP addresses is reached.')
  const host = state.addresses.floating(region)
  if (!host) throw badRequest(`No floating IP address is left in ${region.slug}.`)
  const ip = storeIp(state, { project, region, type: 'floating-ip', host })
  changeIp(ip, change)
  return ip
}

/** Returns the limit of floating IPs: the granted quota, or at most four for each server of the team. */
function limitOf({ quota, behaviour, servers }: State, project: Project): number {
  const granted = quota.of(String(project.id))
  return behaviour.quotaRule === 'granted' ? granted : Math.min(granted, 4 * servers.size)
}

function storeIp(
  state: State,
  made: { project: Project; region: Region; type: IpType; host: Host; server?: Server },
): Ip {
  const ip: Ip = { id: newIpId(), tags: {}, createdAtMs: state.now(), isDeleting: false, ...made }
  state.ips.set(ip.id, ip)
  return ip
}

/** Assigns a primary and a private address to a new server. */
export function addOwnIps(state: State, server: Server): void {
  const { project, region } = server
  const primary = state.addresses.primary(region)
  const lan = state.addresses.private(region, project.id)
  if (!primary || !lan) throw badRequest(`No addresses for servers are left in ${region.slug}.`)
  storeIp(state, { project, region, type: 'primary-ip', host: primary, server })
  storeIp(state, { project, region, type: 'private-ip', host: lan, server })
}

/** Applies a change; fields that it does not contain stay as they are. */
export function changeIp(ip: Ip, { target, tags, ptrRecord, aRecord }: IpChange): void {
  if (target === 'none') delete ip.target
  else if (target) ip.target = target
  if (tags) ip.tags = tags
  if (ptrRecord === '') delete ip.ptrRecord
  else if (ptrRecord !== undefined) ip.ptrRecord = ptrRecord
  if (aRecord === '') delete ip.aRecord
  else if (aRecord !== undefined) ip.aRecord = aRecord
}

/** Deletes a floating IP; the API still shows it for a while. */
export function deleteIp(state: State, ip: Ip): void {
  if (ip.type !== 'floating-ip') throw badRequest('Only floating IP addresses can be deleted.')
  if (ip.target && state.behaviour.deleteTargeted === 'refused')
    throw badRequest('Attached IP address cannot be deleted.')
  delete ip.target
  ip.isDeleting = true
  if (state.deletion.reservationsMs === 0) removeIp(state, ip)
  else state.schedule(state.deletion.reservationsMs, () => removeIp(state, ip))
}

/** Removes an address, even if a server uses it. */
export function removeIp(state: State, ip: Ip): void {
  if (!state.ips.delete(ip.id)) return
  state.gone.add(ip.id)
  ip.host.free()
}

/** Removes a deleted server's own addresses; the project keeps the floating IPs. */
export function removeServerIps(state: State, server: Server): void {
  for (const ip of ipsOf(state, server)) {
    if (ip.server) removeIp(state, ip)
    else delete ip.target
  }
}
