import type { FastifyInstance } from 'fastify'
import { images, networks, pricing, serverTypes } from './catalogue.ts'
import { invalidInput, refused, refusedFor } from './errors.ts'
import { locations } from './locations.ts'
import { renderAction } from './render.ts'
import { type RouteContext, findIn, page } from './route-context.ts'

type Item = { id: number; name: string }

/** The lists that no call changes, and the field name of a single item. */
const catalogue: [field: string, one: string, items: Item[]][] = [
  ['locations', 'location', locations],
  ['server_types', 'server_type', serverTypes],
  ['images', 'image', images],
  ['networks', 'network', networks],
]

/** The vendor removed its datacenters in October 2026. */
const removed = refusedFor(410, 'deprecated_api_endpoint', {
  message: 'API functionality was removed',
  details: { announcement: 'https://docs.hetzner.cloud/changelog' },
})

/** Registers the routes of actions, and of the products that every project can order. */
export function catalogueRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, projectOf } = context
  for (const [field, one, items] of catalogue) {
    app.get(`/${field}`, (request) => page(context, request, { field, items, render: (item) => item }))
    app.get(`/${field}/:id`, (request) => {
      const { id } = request.params as { id: string }
      const found = items.find((item) => String(item.id) === id)
      if (!found) throw refused(404)
      return { [one]: found }
    })
  }
  app.get('/pricing', () => ({ pricing }))
  for (const path of ['/datacenters', '/datacenters/:id'])
    app.get(path, () => {
      throw removed
    })
  app.get('/actions/:id', (request) => ({ action: renderAction(findIn(context, request, state.actions)) }))
  // The route has required ids since January 2025.
  app.get('/actions', (request) => {
    const { id } = request.query as { id?: string | string[] }
    const ids = [id ?? []].flat().map(Number)
    if (ids.length === 0) throw invalidInput('id', 'is missing')
    const project = projectOf(request)
    const items = [...state.actions.values()].filter((one) => one.project === project && ids.includes(one.id))
    return page(context, request, { field: 'actions', items, render: renderAction })
  })
}
