import { assignmentsOf } from './assignments.ts'
import { errorText, faultOf, vendor, refusal, requireUnassigned, unreadableError } from './errors.ts'
import { machinesOf } from './machines.ts'
import { projectAt, type Project, pathOf, findFlexibleIp, findListed } from './project.ts'
import { vendorHttp, type ClientOptions } from '../http/client.ts'
import type { VendorCall } from '../http/request.ts'
import { type Assignments } from '../ports/assignments.ts'
import { changesOf, hasMarks } from '../ports/marks.ts'
import type { Vendor } from '../ports/cloud-provider.ts'
import type { Cloud, Reservation, ReservationRequest, Location } from '../ports/cloud.ts'
import { unlessGone } from '../ports/vendor-errors.ts'
import { parseFlexibleIp } from './parse-flexible-ip.ts'
import { tagsOfNew, withMarks } from './tags.ts'

export type ScalewayOptions = ClientOptions & {
  projectId: string
  zone: string
  /** How often a change in progress is checked. */
  pollMs?: number
}

/** A Scaleway project in one zone: its Elastic Metal servers and their flexible IPs. It has no BGP with tenants. */
export function scaleway(options: ScalewayOptions): Vendor & { assignments: Assignments } {
  const { apiKey, projectId, zone, pollMs = 1_000, ...tuning } = options
  const http = vendorHttp({
    ...tuning,
    vendor,
    headers: () => ({ 'x-auth-token': apiKey.reveal() }),
    errorText,
    fault: faultOf,
    hints: {
      auth: `check that the API key is valid and may manage Elastic Metal and its flexible IPs in project ${projectId}`,
      quota: 'delete flexible IPs that are not used, or have the quota of the organization raised',
    },
  })
  const project = projectAt(http, { id: projectId, zone, pollMs })
  return { name: vendor, ...reservationsOf(project), ...machinesOf(project), assignments: assignmentsOf(project) }
}

function reservationsOf(project: Project): Omit<Cloud, 'name'> {
  return {
    reservations: async (marks, signal) =>
      (await project.addresses.fresh(signal))
        .map(({ reservation }) => reservation)
        .filter((reservation) => hasMarks(reservation.marks, marks)),
    reservation: async (id, signal) => (await findFlexibleIp(project, { id }, signal))?.reservation,
    reserve: (request, signal) => reserve(project, request, signal),
    // The provider reuses the id of a deleted address. A change in flight would then apply to the next order's address.
    ...changesOf({
      find: (id, signal) => findFlexibleIp(project, { id }, signal),
      write: ({ reservation, tags }, marks, signal) =>
        write(
          project,
          { id: reservation.id, name: 'mark', method: 'PATCH', body: { tags: withMarks(tags, marks) } },
          signal,
        ),
      requireUnassigned,
      remove: (id, signal) => write(project, { id, name: 'release', method: 'DELETE' }, signal),
    }),
    // The API lists no zones.
    locations: async () => [...zones],
  }
}

/** Orders an address, once: the API has no name or key by which it would recognize a second attempt. */
async function reserve(
  project: Project,
  { location, marks, family }: ReservationRequest,
  signal: AbortSignal,
): Promise<Reservation> {
  const { zone, id, http } = project
  if (location !== zone)
    throw refusal(`"${location}" is not the zone in which addresses are reserved, ${zone}`, 'invalid')
  const body = { project_id: id, description: '', tags: tagsOfNew(marks, new Date()), is_ipv6: family === 'ipv6' }
  const path = pathOf.addresses(project)
  const answer = await http.call({ name: 'reserve', method: 'POST', lane: 'reserve', path, body }, signal)
  const created = parseFlexibleIp(answer.body)
  if (!created) throw unreadableError('reserve', 'an object without an id and an address', 'unknown')
  return created.reservation
}

/** Changes or deletes an address; success if it is already deleted. */
async function write(
  project: Project,
  { id, ...call }: Pick<VendorCall, 'name' | 'method' | 'body'> & { id: string },
  signal: AbortSignal,
): Promise<void> {
  const path = [...pathOf.addresses(project), id]
  const change = project.http.call({ ...call, path, accept: [404] }, signal)
  await unlessGone(change, async () => (await findListed(project, { id }, signal)) !== undefined)
}

/** The zones in which Elastic Metal has flexible IPs, according to the vendor's own SDK of 2025. */
const zones: readonly Location[] = [
  ['fr-par-1', 'Paris 1'],
  ['fr-par-2', 'Paris 2'],
  ['nl-ams-1', 'Amsterdam 1'],
  ['nl-ams-2', 'Amsterdam 2'],
  ['pl-waw-2', 'Warsaw 2'],
  ['pl-waw-3', 'Warsaw 3'],
].map(([code = '', name = '']) => ({ code, name, kind: 'zone' }))
