import type { Json } from '../control.ts'
import { type Assignment, type Device, type Session, type State, assignmentsOf, sessionsOf } from './state.ts'

const peerAsn = 65530
const peers = {
  ipv4: ['169.254.255.1', '169.254.255.2'],
  ipv6: ['fc00:0000:0000:0000:0000:0000:0000:000e', 'fc00:0000:0000:0000:0000:0000:0000:000f'],
}

/** Returns the BGP neighbors of a device: one entry for each session, so none before the first session. */
export function neighborsOf(state: State, device: Device): Json[] {
  return sessionsOf(state, device).flatMap((session) => {
    const own = sourceOf(state, session)
    return own ? [neighbor(state, session, own)] : []
  })
}

/** Returns the only source address that the switches accept: the private management address, or the IPv6 one. */
function sourceOf(state: State, { device, family }: Session): Assignment | undefined {
  const managed = assignmentsOf(state, device).filter(({ management }) => management)
  return managed.find(({ block, public: isPublic }) => (family === 'ipv6' ? block.family === 6 : !isPublic))
}

function neighbor(state: State, session: Session, own: Assignment): Json {
  const { family, device } = session
  const { bgpConfig } = device.project
  return {
    // A number here; sessions show the same as a word.
    address_family: family === 'ipv6' ? 6 : 4,
    customer_as: bgpConfig?.asn,
    customer_ip: own.address,
    md5_enabled: Boolean(bgpConfig?.md5),
    md5_password: bgpConfig?.md5 ?? null,
    multihop: true,
    peer_as: peerAsn,
    peer_ips: peers[family],
    routes_in: routesIn(state, session, own),
    routes_out: session.defaultRoute ? [{ route: family === 'ipv6' ? '::/0' : '0.0.0.0/0', exact: true }] : [],
  }
}

/** Returns what the device may announce: each block of the project in its metro, and its private block. */
function routesIn(state: State, { device, family }: Session, own: Assignment): Json[] {
  const { block: within } = own.reservation
  const around = within ? [{ route: `${within.network}/${within.cidr}`, exact: false }] : []
  if (family === 'ipv6') return around
  const reserved = [...state.reservations.values()].filter(
    ({ project, management, metro }) =>
      project === device.project && !management && (metro === undefined || metro === device.metro),
  )
  const routes = reserved.flatMap(({ block }) =>
    block ? [{ route: `${block.network}/${block.cidr}`, exact: true }] : [],
  )
  return [...routes, ...around]
}
