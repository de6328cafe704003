import { command, count } from '../../command.ts'
import { findById } from '../../control-error.ts'
import type { BalancerAccess } from './access.ts'
import { renderBalancer, renderPool } from './render.ts'
import { type BalancerSettings, type BalancerState, removeBalancer } from './state.ts'

/** The controls of the load balancers of a simulated Equinix Metal. */
export type BalancerControl = ReturnType<typeof makeBalancerControl>

const settings = {
  route: 'PUT /load-balancers/settings',
  help: 'Sets how long a new one has no addresses, how long tokens hold, the limit of a project and restricted ports.',
  example: '{"buildMs":3000,"tokenMs":60000,"limit":5,"restrictedPorts":[22]}',
  optional: {
    buildMs: count,
    tokenMs: count,
    limit: count,
    restrictedPorts: { type: 'array', items: count },
    maxName: count,
  },
}

/** Makes the controls of the load balancers. */
export function makeBalancerControl(state: BalancerState, access: BalancerAccess) {
  /** Returns every pool of every project with its origins, attached or not. */
  const pools = () => [...state.pools.values()].map((pool) => renderPool(state, pool))
  return {
    all: command(
      {
        route: 'GET /load-balancers',
        help: 'Lists the managed load balancers of every project, and all pools.',
        answer: (loadbalancers) => ({ loadbalancers, pools: pools() }),
      },
      () => [...state.balancers.values()].map((balancer) => renderBalancer(state, balancer)),
    ),
    pools,
    vanish: command(
      {
        route: 'DELETE /load-balancers/:id',
        help: 'Removes a managed load balancer as a person does in the console.',
      },
      (id: string) => removeBalancer(state, findById(state.balancers, id, 'load balancer')),
    ),
    set: command(settings, (wanted: Partial<BalancerSettings>) => void Object.assign(state.settings, wanted)),
    revokeTokens: command(
      {
        route: 'DELETE /load-balancers/tokens',
        help: 'Ends every token, so that the next call of each client gets 401.',
      },
      () => access.revoke(),
    ),
  }
}
