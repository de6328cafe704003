import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Json } from '../control.ts'
import type { Access } from './access.ts'
import { notFound } from './errors.ts'
import { href } from './hrefs.ts'
import { pageOf } from './paging.ts'
import type { RouteContext } from './route-context.ts'
import type { DeviceEvent } from './state.ts'

/** Serves the events of devices, the latest first. */
export function eventRoutes(app: FastifyInstance, { state, find, faultOf }: RouteContext, access: Access): void {
  const list = (request: FastifyRequest, isWanted: (event: DeviceEvent) => boolean) => {
    const { projects } = access.authenticate(request)
    const mine = state.events.filter((event) => projects.includes(event.device.project.id) && isWanted(event))
    const { items, meta } = pageOf(mine.toReversed(), { request, perPage: 10, fault: faultOf(request) })
    return { events: items.map(renderEvent), meta }
  }

  app.get('/events', (request) => list(request, () => true))
  app.get('/devices/:id/events', (request) => {
    const wanted = find.device(request)
    return list(request, ({ device }) => device === wanted)
  })
  app.get('/projects/:id/events', (request) => {
    const project = find.project(request)
    return list(request, ({ device }) => device.project === project)
  })
  app.get('/organizations/:id/events', (request) => {
    const { id } = request.params as { id: string }
    if (!state.organizations.has(id)) throw notFound()
    return list(request, ({ device }) => device.project.organization.id === id)
  })
  app.get('/events/:id', (request) => {
    const { id } = request.params as { id: string }
    const { projects } = access.authenticate(request)
    const event = state.events.find((one) => one.id === id && projects.includes(one.device.project.id))
    if (!event) throw notFound()
    return renderEvent(event)
  })
}

function renderEvent({ id, device, type, body, createdAt }: DeviceEvent): Json {
  const relationships = [href('devices', device.id), href('projects', device.project.id)]
  return {
    id,
    type,
    body,
    interpolated: body,
    relationships,
    state: 'active',
    created_at: createdAt,
    ...href('events', id),
  }
}
