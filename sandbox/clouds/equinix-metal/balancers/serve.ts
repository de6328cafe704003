import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../api-error.ts'
import type { BalancerAccess } from './access.ts'
import { balancerRoutes } from './balancer-routes.ts'
import { makeBalancerFinders } from './finders.ts'
import { originRoutes } from './origin-routes.ts'
import { poolRoutes } from './pool-routes.ts'
import { portRoutes } from './port-routes.ts'
import type { BalancerState } from './state.ts'

/** The path below the API under which the service of load balancers is served; the vendor has a host for it. */
const balancersPath = '/lb'

/** The path below the API under which API keys are exchanged for tokens; the vendor has a host for it. */
const tokensPath = '/iam'

/** Serves the load balancers and the exchange of tokens. */
export function serveBalancers(app: FastifyInstance, state: BalancerState, access: BalancerAccess): void {
  app.setErrorHandler((error, _request, reply) => {
    const { balancerErrors, balancerRefusal } = state.account.behaviour
    const known = error instanceof ApiError ? error.status : 500
    const status = known === 422 ? Number(balancerRefusal) : known
    if (status === 500) console.error(error)
    const sentences = error instanceof ApiError ? Object.values(error.body) : []
    const [first = 'internal server error'] = sentences.flat() as string[]
    return reply.code(status).send({ errors: [balancerErrors === 'texts' ? first : { message: first }] })
  })
  app.register(async (scope) => void scope.post('/api-keys/exchange', (request) => access.exchange(request)), {
    prefix: tokensPath,
  })
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request) => {
        access.authenticate(request)
      })
      const context = { state, find: makeBalancerFinders(state, access) }
      balancerRoutes(scope, context)
      portRoutes(scope, context)
      poolRoutes(scope, context)
      originRoutes(scope, context)
    },
    { prefix: balancersPath },
  )
}
