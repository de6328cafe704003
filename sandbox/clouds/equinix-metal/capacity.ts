import type { FastifyInstance } from 'fastify'
import { unprocessable } from './errors.ts'
import { roomFor } from './device-lifecycle.ts'
import { type Facility, type Metro, facilities, findFacility, findMetro, metros, plans } from './locations.ts'
import type { RouteContext } from './route-context.ts'
import type { State } from './state.ts'
import type { Json } from '../control.ts'
import { objectOf, textOf } from '../request-body.ts'

/** Serves the capacity of servers. The vendor has no call for the capacity of addresses. */
export function capacityRoutes(app: FastifyInstance, { state }: RouteContext): void {
  app.get('/capacity/metros', () => ({ capacity: everyPlanIn(state, metros) }))
  app.get('/capacity', () => ({ capacity: everyPlanIn(state, facilities) }))
  app.post('/capacity/metros', (request) => check(state, request.body, 'metro'))
  app.post('/capacity', (request) => check(state, request.body, 'facility'))
}

function everyPlanIn(state: State, places: (Metro | Facility)[]): Json {
  const levelsIn = (place: Metro | Facility) =>
    Object.fromEntries(plans.map((plan) => [plan.slug, { level: levelOf(roomFor(state, metroOf(place), plan)) }]))
  return Object.fromEntries(places.map((place) => [place.code, levelsIn(place)]))
}

const metroOf = (place: Metro | Facility) => ('metro' in place ? place.metro : place)

function levelOf(room: number): string {
  if (room <= 0) return 'unavailable'
  return room < 10 ? 'limited' : 'normal'
}

function check(state: State, sent: unknown, place: 'metro' | 'facility'): Json {
  const { servers } = objectOf(sent)
  if (!Array.isArray(servers)) throw unprocessable("Servers can't be blank")
  return { servers: servers.map((server) => renderCapacity(state, objectOf(server), place)) }
}

function renderCapacity(state: State, sent: Record<string, unknown>, place: 'metro' | 'facility'): Json {
  // The specification declares the quantity as a string, but a widely used client sends a number: the answer echoes it.
  const { plan: slug, quantity = 1 } = sent
  const code = textOf(sent[place])
  const metro = place === 'metro' ? findMetro(code) : findFacility(code)?.metro
  const plan = plans.find((one) => one.slug === slug)
  const available = metro !== undefined && plan !== undefined && roomFor(state, metro, plan) >= Number(quantity)
  return { [place]: code, plan: slug, quantity, available }
}
