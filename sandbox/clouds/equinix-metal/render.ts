import { stableId, type Facility, type Metro } from './locations.ts'
import { basePath, href } from './hrefs.ts'
import type { View } from './includes.ts'
import { type Assignment, type Project, type Reservation, type State, assignmentsIn } from './state.ts'

export type Json = Record<string, unknown>

/** Who asked for everything that is here. */
const user = href('users', stableId('the user of the sandbox'))

/** A reservation as the API shows it. Its fields are exactly those of the schema, which is closed: some clients fail on any other. */
export function renderReservation(state: State, reservation: Reservation, view: View): Json {
  const { id, type, block, project, management } = reservation
  return {
    id,
    type,
    state: reservation.state,
    address_family: type === 'public_ipv6' ? 6 : 4,
    address: block?.network ?? null,
    network: block?.network ?? null,
    gateway: block?.gateway ?? null,
    netmask: block?.netmask ?? null,
    cidr: block?.cidr ?? null,
    public: type !== 'private_ipv4',
    management,
    manageable: true,
    enabled: true,
    global_ip: type === 'global_ipv4',
    addon: !management,
    bill: !management,
    tags: reservation.tags,
    details: reservation.details,
    customdata: reservation.customdata,
    created_at: reservation.createdAt,
    assignments: assignmentsIn(state, reservation).map((one) =>
      view.full('assignments') ? renderAssignment(state, one, view.into('assignments')) : href('ips', one.id),
    ),
    available: `${basePath}/ips/${id}/available`,
    metro: reservation.metro ? renderMetro(reservation.metro, view) : null,
    facility: reservation.facility ? renderFacility(reservation.facility, view) : null,
    project: renderProject(project, view),
    project_lite: href('projects', project.id),
    requested_by: user,
    ...href('ips', id),
  }
}

/** An assignment as the API shows it. */
export function renderAssignment(state: State, assignment: Assignment, view: View): Json {
  const { id, reservation, device, block } = assignment
  return {
    id,
    ...(state.behaviour.assignmentType === 'present' && { type: 'IPAssignment' }),
    address_family: block.family,
    address: assignment.address,
    network: block.network,
    gateway: block.gateway,
    netmask: block.netmask,
    cidr: block.cidr,
    public: assignment.public,
    management: assignment.management,
    manageable: true,
    enabled: true,
    global_ip: reservation.type === 'global_ipv4',
    created_at: assignment.createdAt,
    assigned_to: href('devices', device.id),
    parent_block: view.full('parent_block') ? renderParentBlock(reservation) : href('ips', reservation.id),
    metro: renderMetro(device.metro, view),
    ...href('ips', id),
  }
}

/** The block that an assignment is cut from. */
export function renderParentBlock({ id, block }: Reservation): Json {
  return { network: block?.network, netmask: block?.netmask, cidr: block?.cidr, ...href('ips', id) }
}

/** A metro: in full unless excluded. */
export function renderMetro(metro: Metro, view: View): Json {
  return view.full('metro', true) ? metro : href('locations/metros', metro.id)
}

/** A facility: in full unless excluded. */
export function renderFacility(facility: Facility, view: View): Json {
  return view.full('facility', true) ? facility : href('facilities', facility.id)
}

/** A project: in full when included. */
export function renderProject({ id, name, createdAt }: Project, view: View): Json {
  const reference = href('projects', id)
  return view.full('project') ? { id, name, created_at: createdAt, ...reference } : reference
}
