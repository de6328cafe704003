import type { FastifyInstance } from 'fastify'
import { invalidInput, refused } from './errors.ts'
import { locations, serverTypes } from './locations.ts'
import { renderAction } from './render.ts'
import { type RouteContext, findIn, page } from './route-context.ts'

/** Registers the routes of actions, and of what every project can order. */
export function catalogueRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, projectOf } = context
  const same = <T>(item: T) => item
  app.get('/locations', (request) => page(context, request, { field: 'locations', items: locations, render: same }))
  app.get('/locations/:id', (request) => {
    const { id } = request.params as { id: string }
    const location = locations.find((one) => String(one.id) === id)
    if (!location) throw refused(404)
    return { location }
  })
  app.get('/server_types', (request) =>
    page(context, request, { field: 'server_types', items: serverTypes, render: same }),
  )
  for (const field of ['images', 'ssh_keys', 'networks'])
    app.get(`/${field}`, (request) => page(context, request, { field, items: [] as { id: number }[], render: same }))
  app.get('/actions/:id', (request) => ({ action: renderAction(findIn(context, request, state.actions)) }))
  // Since January 2025 it needs ids.
  app.get('/actions', (request) => {
    const { id } = request.query as { id?: string | string[] }
    const ids = [id ?? []].flat().map(Number)
    if (ids.length === 0) throw invalidInput('id', 'is missing')
    const project = projectOf(request)
    const items = [...state.actions.values()].filter((one) => one.project === project && ids.includes(one.id))
    return page(context, request, { field: 'actions', items, render: renderAction })
  })
}
