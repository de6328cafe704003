import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RouteContext, pageOf } from './route-context.ts'
import { notFound } from './errors.ts'
import { selectFields } from './fields.ts'
import { findPlan, plans, withStock } from './plans.ts'
import { findRegion, regions } from './regions.ts'

/** Serves regions and plans, which are the same for every team. */
export function catalogueRoutes(app: FastifyInstance, { faultOf }: RouteContext): void {
  app.get('/regions', (request, reply) => {
    const page = pageOf(regions, { request, reply, fault: faultOf(request) })
    return page.map((region) => selectFields(request, 'region', region))
  })

  app.get('/regions/:id', (request) => {
    const { id } = request.params as { id: string }
    const region = findRegion(id) ?? regions.find((one) => String(one.id) === id)
    if (!region) throw notFound()
    return selectFields(request, 'region', region)
  })

  const listPlans = (request: FastifyRequest, reply: FastifyReply) => {
    const page = pageOf(plans, { request, reply, fault: faultOf(request) })
    return page.map((plan) => selectFields(request, 'plan', withStock(plan)))
  }
  app.get('/plans', listPlans)
  app.get('/teams/:id/plans', listPlans)

  app.get('/plans/:id', (request) => {
    const plan = findPlan((request.params as { id: string }).id)
    if (!plan) throw notFound()
    return selectFields(request, 'plan', withStock(plan))
  })
}
