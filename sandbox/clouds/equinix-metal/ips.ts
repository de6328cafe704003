import type { FastifyInstance, FastifyRequest } from 'fastify'
import { applyListFault } from '../list-faults.ts'
import { isAssignment } from './access.ts'
import { assign, availableIn, detach } from './assignments.ts'
import { notFound, unprocessable } from './errors.ts'
import { markDeprecated } from './location-routes.ts'
import { type RouteContext, inListOrder, viewFor } from './route-context.ts'
import { pageOf } from './paging.ts'
import { renderAssignment, renderReservation } from './render.ts'
import { objectOf } from '../request-body.ts'
import { customdataOf, listOfText } from './request-body.ts'
import { readReservationOrder } from './reservation-order.ts'
import { deleteReservation, reserve } from './reservations.ts'
import { type Assignment, type Reservation, type State, assignmentsOf } from './state.ts'

/** Serves reservations (blocks of a project) and assignments (addresses of a device); both live at `/ips/{id}`. */
export function ipRoutes(app: FastifyInstance, metal: RouteContext): void {
  projectIps(app, metal)
  singleIps(app, metal)
  deviceIps(app, metal)
}

function projectIps(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  app.get('/projects/:id/ips', (request) => {
    const project = find.project(request)
    const wanted = wantedTypes(state, request)
    const mine = [...state.reservations.values()].filter(
      (one) => one.project === project && one.listed && wanted.includes(one.type),
    )
    const { items, meta } = pageOf(inListOrder(state, mine), { request, perPage: 250, fault: faultOf(request) })
    return { ip_addresses: items.map((one) => renderReservation(state, one, viewFor(request))), meta }
  })

  // 201 for a granted and for a pending reservation: `state` shows which.
  app.post('/projects/:id/ips', (request, reply) => {
    const project = find.project(request)
    const order = readReservationOrder(state, request.body)
    if (order.facility) markDeprecated(reply)
    const reservation = reserve(state, project, order)
    return reply.code(201).send(renderReservation(state, reservation, viewFor(request)))
  })
}

function singleIps(app: FastifyInstance, { state, find }: RouteContext): void {
  const render = (request: FastifyRequest, found: Reservation | Assignment) =>
    isAssignment(found)
      ? renderAssignment(state, found, viewFor(request))
      : renderReservation(state, found, viewFor(request))

  app.get('/ips/:id', (request) => render(request, find.address(request)))

  app.patch('/ips/:id', (request) => {
    const found = find.address(request)
    if (!isAssignment(found)) change(found, objectOf(request.body))
    return render(request, found)
  })

  // The id of a reservation deletes the block; the id of an assignment only detaches the address from its device.
  app.delete('/ips/:id', (request, reply) => {
    const found = find.address(request)
    if (isAssignment(found)) {
      if (found.management) throw unprocessable('Cannot remove a management address')
      detach(state, found)
    } else {
      if (found.isDeleting) throw notFound()
      deleteReservation(state, found)
    }
    return reply.code(204).send()
  })

  app.get('/ips/:id/available', (request) => {
    const found = find.address(request)
    if (isAssignment(found)) throw notFound()
    const { cidr = '32' } = request.query as { cidr?: string }
    return { available: availableIn(state, found, Number(cidr)) }
  })

  app.get('/ips/:id/customdata', (request) => {
    const found = find.address(request)
    return found.customdata
  })
}

function deviceIps(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  app.get('/devices/:id/ips', (request) => {
    const held = applyListFault(assignmentsOf(state, find.device(request)), faultOf(request))
    return { ip_addresses: held.map((one) => renderAssignment(state, one, viewFor(request))) }
  })

  app.post('/devices/:id/ips', (request, reply) => {
    const assignment = assign(state, find.device(request), objectOf(request.body))
    return reply.code(201).send(renderAssignment(state, assignment, viewFor(request)))
  })
}

/** Clients use `types=a&types=b`, `types=a,b` and `type=a`. */
function wantedTypes(state: State, request: FastifyRequest): string[] {
  const { types, type } = request.query as Record<string, unknown>
  const given = [types ?? type].flat().filter((text) => typeof text === 'string')
  const counted = state.behaviour.repeatedTypes === 'all' ? given : given.slice(-1)
  const wanted = counted.flatMap((text) => text.split(',')).filter((text) => text !== '')
  if (wanted.length > 0) return wanted
  const ordered = ['public_ipv4', 'global_ipv4']
  return state.behaviour.typesByDefault === 'all' ? [...ordered, 'private_ipv4', 'public_ipv6'] : ordered
}

/** `tags` replaces the whole list. */
function change(reservation: Reservation, { details, tags, customdata }: Record<string, unknown>): void {
  if (typeof details === 'string' || details === null) reservation.details = details
  if (tags !== undefined) reservation.tags = listOfText(tags, 'tags')
  if (customdata !== undefined) reservation.customdata = customdataOf(customdata)
}
