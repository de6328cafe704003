import type { FastifyInstance, FastifyRequest } from 'fastify'
import { matchesFilters } from './device-filters.ts'
import { readDeviceOrder, readSettings } from './device-order.ts'
import { runAction } from './device-actions.ts'
import { addDevice, deprovision, provision } from './device-lifecycle.ts'
import { forbidden } from './errors.ts'
import { markDeprecated } from './location-routes.ts'
import { metadataOf } from './metadata.ts'
import { type RouteContext, inListOrder, viewFor } from './route-context.ts'
import { pageOf } from './paging.ts'
import { renderDevice } from './render-device.ts'
import { objectOf } from '../request-body.ts'

/** Serves devices, which are the servers of a project. */
export function deviceRoutes(app: FastifyInstance, metal: RouteContext): void {
  projectDevices(app, metal)
  singleDevices(app, metal)
}

function projectDevices(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  app.get('/projects/:id/devices', (request, reply) => {
    const project = find.project(request)
    const query = request.query as Record<string, unknown>
    if (query['facility'] !== undefined) markDeprecated(reply)
    const mine = [...state.devices.values()].filter(
      (one) => one.project === project && matchesFilters(state, one, query),
    )
    const { items, meta } = pageOf(inListOrder(state, mine), { request, perPage: 10, fault: faultOf(request) })
    return { devices: items.map((one) => renderDevice(state, one, viewFor(request))), meta }
  })

  app.post('/projects/:id/devices', (request, reply) => {
    const project = find.project(request)
    const device = addDevice(state, readDeviceOrder(state, project, request.body))
    provision(state, device)
    return reply.code(201).send(renderDevice(state, device, viewFor(request)))
  })
}

function singleDevices(app: FastifyInstance, { state, find }: RouteContext): void {
  app.get('/devices/:id', (request) => {
    const device = find.device(request)
    // The project's list still shows the device; that distinguishes it from a deleted one.
    if (device.state === 'failed' && state.behaviour.failedDevice === '403') throw forbidden()
    return renderDevice(state, device, viewFor(request))
  })

  // The specification has PUT; a widely used client locks and unlocks with PATCH.
  app.route({ method: ['PUT', 'PATCH'], url: '/devices/:id', handler: update })

  app.post('/devices/:id/actions', (request, reply) => {
    runAction(state, find.device(request), request.body)
    return reply.code(202).send()
  })

  function update(request: FastifyRequest) {
    const device = find.device(request)
    const body = objectOf(request.body)
    Object.assign(device.settings, readSettings(body))
    if (typeof body['hostname'] === 'string') device.hostname = body['hostname']
    device.updatedAt = state.timestamp()
    return renderDevice(state, device, viewFor(request))
  }

  app.delete('/devices/:id', (request, reply) => {
    deprovision(state, find.device(request))
    return reply.code(204).send()
  })

  app.get('/devices/:id/metadata', (request) => metadataOf(state, find.device(request)))
  app.get('/devices/:id/customdata', (request) => find.device(request).settings.customdata)
  app.get('/devices/:id/userdata', (request) => ({ userdata: find.device(request).settings.userdata }))
}
