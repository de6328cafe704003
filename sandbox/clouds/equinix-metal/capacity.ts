import type { FastifyInstance } from 'fastify'
import { unprocessable } from './errors.ts'
import { facilities, findFacility, findMetro, metros, plans } from './locations.ts'
import type { Json } from '../control.ts'
import { objectOf, textOf } from '../request-body.ts'

/** Serves the capacity of servers. The vendor has no call for the capacity of addresses. */
export function capacityRoutes(app: FastifyInstance): void {
  app.get('/capacity/metros', () => ({ capacity: everyPlanIn(metros) }))
  app.get('/capacity', () => ({ capacity: everyPlanIn(facilities) }))
  app.post('/capacity/metros', (request) => check(request.body, 'metro'))
  app.post('/capacity', (request) => check(request.body, 'facility'))
}

function everyPlanIn(places: { code: string }[]): Json {
  const levels = Object.fromEntries(plans.map(({ slug }) => [slug, { level: 'normal' }]))
  return Object.fromEntries(places.map(({ code }) => [code, levels]))
}

function check(sent: unknown, place: 'metro' | 'facility'): Json {
  const { servers } = objectOf(sent)
  if (!Array.isArray(servers)) throw unprocessable("Servers can't be blank")
  return { servers: servers.map((server) => renderCapacity(objectOf(server), place)) }
}

function renderCapacity({ plan, quantity, ...rest }: Record<string, unknown>, place: 'metro' | 'facility'): Json {
  const code = textOf(rest[place])
  const isPlace = (place === 'metro' ? findMetro(code) : findFacility(code)) !== undefined
  const available = isPlace && plans.some(({ slug }) => slug === plan)
  // The specification declares the quantity as a string; recorded answers have a number.
  return { [place]: code, plan, quantity: Number(quantity ?? 1), available }
}
