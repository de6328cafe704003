import type { FastifyInstance } from 'fastify'
import { applyListFault } from '../list-faults.ts'
import type { Json } from '../control.ts'
import { notFound } from './errors.ts'
import { href } from './hrefs.ts'
import { type Plan, facilities, metros, plans } from './locations.ts'
import { renderOperatingSystem } from './render-device.ts'
import type { RouteContext } from './route-context.ts'

const systems = [
  'alma_9',
  'custom_ipxe',
  'debian_11',
  'debian_12',
  'rocky_9',
  'ubuntu_20_04',
  'ubuntu_22_04',
  'ubuntu_24_04',
]

/** Serves the plans and operating systems, which are the same for every project. */
export function catalogueRoutes(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  app.get('/plans', (request) => ({ plans: applyListFault(plans.map(renderPlan), faultOf(request)) }))
  app.get('/projects/:id/plans', (request) => {
    find.project(request)
    return { plans: applyListFault(plans.map(renderPlan), faultOf(request)) }
  })
  app.get('/organizations/:id/plans', (request) => {
    if (!state.organizations.has((request.params as { id: string }).id)) throw notFound()
    return { plans: applyListFault(plans.map(renderPlan), faultOf(request)) }
  })
  app.get('/operating-systems', (request) => {
    const shown = systems.map((slug) => ({
      ...renderOperatingSystem(slug),
      provisionable_on: plans.map((plan) => plan.slug),
      preinstallable: false,
      licensed: false,
    }))
    return { operating_systems: applyListFault(shown, faultOf(request)) }
  })
}

function renderPlan(plan: Plan): Json {
  return {
    ...plan,
    description: `The plan ${plan.slug}`,
    legacy: false,
    deployment_types: ['on_demand', 'spot_market'],
    available_in: facilities.map(({ id }) => href('facilities', id)),
    available_in_metros: metros.map(({ id }) => href('locations/metros', id)),
    pricing: { hour: 0.5 },
    specs: {
      cpus: [{ count: 1, type: 'AMD EPYC 7402P 24-Core Processor @ 2.8GHz' }],
      memory: { total: '64GB' },
      drives: [{ count: 2, size: '480GB', type: 'SSD' }],
      nics: [{ count: 2, type: '10Gbps' }],
      features: { raid: false, txt: true },
    },
    ...href('plans', plan.id),
  }
}
