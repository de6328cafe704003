import type { Command, Json } from '../../control.ts'
import { findById } from '../../control-error.ts'
import type { BalancerAccess } from './access.ts'
import { renderBalancer, renderPool } from './render.ts'
import { type BalancerSettings, type BalancerState, removeBalancer } from './state.ts'

/** The controls of the load balancers of a simulated Equinix Metal. */
export type BalancerControl = {
  /** Returns every load balancer of every project as the API shows it. */
  all(): Json[]
  /** Returns every pool of every project with its origins, attached or not. */
  pools(): Json[]
  /** Removes a load balancer without a client's call, as a person does in the console. */
  vanish(id: string): void
  /** Revokes every token, so that each client's next call gets 401. */
  revokeTokens(): void
  set(settings: Partial<BalancerSettings>): void
}

/** Makes the controls of the load balancers. */
export function makeBalancerControl(state: BalancerState, access: BalancerAccess): BalancerControl {
  return {
    all: () => [...state.balancers.values()].map((balancer) => renderBalancer(state, balancer)),
    pools: () => [...state.pools.values()].map((pool) => renderPool(state, pool)),
    vanish: (id) => removeBalancer(state, findById(state.balancers, id, 'load balancer')),
    revokeTokens: () => access.revoke(),
    set: (settings) => void Object.assign(state.settings, settings),
  }
}

const count = { type: 'integer', minimum: 0 }

/** Returns the commands for the load balancers. */
export function balancerCommands(control: BalancerControl): Command[] {
  return [
    {
      route: 'GET /load-balancers',
      help: 'Lists the managed load balancers of every project, and all pools.',
      run: () => ({ loadbalancers: control.all(), pools: control.pools() }),
    },
    {
      route: 'DELETE /load-balancers/:id',
      help: 'Removes a managed load balancer as a person does in the console.',
      run: ({ params }) => control.vanish(params['id'] ?? ''),
    },
    {
      route: 'PUT /load-balancers/settings',
      help: 'Sets how long a new one has no addresses, how long tokens hold, the limit of a project and restricted ports.',
      example: '{"buildMs":3000,"tokenMs":60000,"limit":5,"restrictedPorts":[22]}',
      fields: {
        buildMs: count,
        tokenMs: count,
        limit: count,
        restrictedPorts: { type: 'array', items: count },
        maxName: count,
      },
      run: ({ body }) => control.set(body as Partial<BalancerSettings>),
    },
    {
      route: 'DELETE /load-balancers/tokens',
      help: 'Ends every token, so that the next call of each client gets 401.',
      run: () => control.revokeTokens(),
    },
  ]
}
