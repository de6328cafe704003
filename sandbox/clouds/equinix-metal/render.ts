import type { Json } from '../control.ts'
import { stableId, type Facility, type Metro } from './locations.ts'
import { basePath, href } from './hrefs.ts'
import type { View } from './includes.ts'
import { type Assignment, type Project, type Reservation, type State, assignmentsIn } from './state.ts'

/** The user who requested every object. */
export const userId = stableId('the user of the sandbox')
const user = href('users', userId)

/** Renders a reservation with exactly the fields of the closed schema: some clients fail on any other field. */
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
      view.isFull('assignments') ? renderAssignment(state, one, view.into('assignments')) : href('ips', one.id),
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

/** Renders an assignment. */
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
    parent_block: view.isFull('parent_block') ? renderParentBlock(reservation) : href('ips', reservation.id),
    metro: renderMetro(device.metro, view),
    ...href('ips', id),
  }
}

/** Renders the block to which an assignment belongs. */
export function renderParentBlock({ id, block }: Reservation): Json {
  return { network: block?.network, netmask: block?.netmask, cidr: block?.cidr, ...href('ips', id) }
}

/** Renders a metro, in full unless excluded. */
export function renderMetro(metro: Metro, view: View): Json {
  return view.isFull('metro', true) ? metro : href('locations/metros', metro.id)
}

/** Renders a facility, in full unless excluded. */
export function renderFacility(facility: Facility, view: View): Json {
  return view.isFull('facility', true) ? facility : href('facilities', facility.id)
}

/** Renders a project, in full when included. */
export function renderProject(project: Project, view: View): Json {
  return view.isFull('project') ? renderWholeProject(project) : href('projects', project.id)
}

/** Renders a project with all of its fields. */
export function renderWholeProject({ id, name, organization, tags, customdata, createdAt, updatedAt }: Project): Json {
  return {
    id,
    name,
    type: 'default',
    organization: href('organizations', organization.id),
    members: [user],
    tags,
    customdata,
    backend_transfer_enabled: false,
    created_at: createdAt,
    updated_at: updatedAt,
    ...href('projects', id),
  }
}
