import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findTeam } from './account-routes.ts'
import { notFound } from './errors.ts'
import { selectFields } from './fields.ts'
import { images } from './images.ts'
import { type Plan, cycles, findPlan, plans, prebuiltsOf, withStock } from './plans.ts'
import { type Region, findRegion, regions } from './regions.ts'
import { type RouteContext, pageOf, wantedTypes } from './route-context.ts'

/** Serves regions, plans, images and billing cycles, which are the same for every team. */
export function catalogueRoutes(app: FastifyInstance, cherry: RouteContext): void {
  const { state, faultOf } = cherry
  app.get('/regions', (request, reply) => {
    const page = pageOf(state, regions, { request, reply, fault: faultOf(request) })
    return page.map((region) => selectFields(request, 'region', region))
  })
  app.get('/regions/:id', (request) => {
    const region = regionNamed((request.params as { id: string }).id)
    if (!region) throw notFound()
    return selectFields(request, 'region', region)
  })
  app.get('/cycles', (request, reply) => pageOf(state, cycles, { request, reply, fault: faultOf(request) }))
  planRoutes(app, cherry)
}

function planRoutes(app: FastifyInstance, { state, faultOf }: RouteContext): void {
  const listPlans = (request: FastifyRequest, reply: FastifyReply) => {
    const page = pageOf(state, wantedPlans(request), { request, reply, fault: faultOf(request) })
    return page.map((plan) => selectFields(request, 'plan', withStock(plan)))
  }
  app.get('/plans', listPlans)
  app.get('/teams/:id/plans', (request, reply) => {
    findTeam(state, request)
    return listPlans(request, reply)
  })
  app.get('/plans/:plan', (request) => selectFields(request, 'plan', withStock(planIn(request))))
  app.get('/plans/:plan/images', (request, reply) => {
    planIn(request)
    return pageOf(state, images, { request, reply, fault: faultOf(request) })
  })
  const listPrebuilts = (request: FastifyRequest, reply: FastifyReply) =>
    pageOf(state, prebuiltsOf(planIn(request)), { request, reply, fault: faultOf(request) })
  app.get('/plans/:plan/prebuilts', listPrebuilts)
  app.get('/teams/:id/plans/:plan/prebuilts', (request, reply) => {
    findTeam(state, request)
    return listPrebuilts(request, reply)
  })
}

/** Returns the plans of the types in `type[]`, in a region: every plan is offered in all of them. */
function wantedPlans(request: FastifyRequest): Plan[] {
  const types = wantedTypes(request)
  const { region_id: region } = request.query as Record<string, unknown>
  if (typeof region === 'string' && !regionNamed(region)) return []
  return plans.filter(({ type }) => types.length === 0 || types.includes(type))
}

function planIn(request: FastifyRequest): Plan {
  const plan = findPlan((request.params as { plan: string }).plan)
  if (!plan) throw notFound()
  return plan
}

function regionNamed(slugOrId: string): Region | undefined {
  return findRegion(slugOrId) ?? regions.find(({ id }) => String(id) === slugOrId)
}
