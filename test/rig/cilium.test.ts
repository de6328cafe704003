// What we rely on of Cilium 1.20, configured by hand: which address LB IPAM gives, how BGP announces it, and what makes
// both let go. It is Cilium's own code, with GoBGP 4.8.0 in place of the commit that it names, and without a datapath.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { providers } from '../../sandbox/rig/providers.ts'
import { eventually } from '../whole/eventually.ts'
import { shownIn } from '../whole/stored.ts'
import { asking, common, pool, sessions } from './cilium-by-hand.ts'
import { type CiliumContext, withCilium } from './stage.ts'

const [first, second, third] = ['203.0.113.7', '203.0.113.8', '203.0.113.9']

type Shown = { address: string; services: string[]; machines: string[] }

/** Waits until the Services show an address, and every router has ways to exactly these machines for it. */
function announced(context: CiliumContext, { address, services, machines }: Shown): Promise<true> {
  const wanted = providers['equinix-metal'].routers.flatMap((router) => machines.map((via) => `${router} ${via}`))
  return eventually(
    `${services.join()} show ${address}, which ${machines.length} machines announce`,
    async (observe) => {
      const shown = observe(await Promise.all(services.map(async (name) => shownIn(await context.service(name)))))
      const routes = observe(await context.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
      const ways = routes.map(({ router, via }) => `${router} ${via}`)
      return (shown.every((one) => one === address) && ways.toSorted().join() === wanted.toSorted().join()) || undefined
    },
  )
}

/** Waits until a Service shows nothing and no router has a way to the address. */
function withdrawn(context: CiliumContext, name: string, address: string): Promise<true> {
  return eventually(`${name} shows nothing, and there is no way to ${address}`, async (observe) => {
    const [service, routes] = observe(await Promise.all([context.service(name), context.routers.routes()]))
    return (shownIn(service) === undefined && !routes.some(({ prefix }) => prefix === `${address}/32`)) || undefined
  })
}

/** Without its pool a Service loses its address, but not while the operator is down. */
async function losesItsPool(context: CiliumContext, machines: string[]): Promise<void> {
  const { apply, run, operator } = context
  await apply(pool('third', third))
  await apply(asking('late', third))
  await announced(context, { address: third, services: ['late'], machines })
  await operator.stop('SIGKILL')
  await run(['delete', 'ciliumloadbalancerippool', 'second'])
  await apply(asking('later', first))
  await announced(context, { address: second, services: ['after'], machines })
  await operator.start()
  await withdrawn(context, 'after', second)
  await announced(context, { address: first, services: ['later'], machines })
  await announced(context, { address: third, services: ['late'], machines })
}

test('Cilium gives the address of a pool, announces it from every node, and withdraws it', () =>
  withCilium(async (context) => {
    const { apply, run, node, routers } = context
    const one = await node({ name: 'node-a', address: '10.0.1.1' })
    const other = await node({ name: 'node-b', address: '10.0.1.2' })
    const machines = [one.address, other.address]
    const items = [...common(), ...sessions(one), ...sessions(other), pool('first', first), pool('second', second)]
    await apply({ apiVersion: 'v1', kind: 'List', items })
    await apply(asking('web', first))
    await apply(asking('web-too', first, 443))
    await apply(asking('leaving', second))
    await announced(context, { address: first, services: ['web', 'web-too'], machines })
    await announced(context, { address: second, services: ['leaving'], machines })

    // One of two that show an address leaves: the other keeps it.
    await run(['delete', 'service', 'web-too'])
    await run(['delete', 'service', 'leaving'])
    await withdrawn(context, 'leaving', second)
    await announced(context, { address: first, services: ['web'], machines })

    // A Service without a request keeps its address. One that requests what no pool has lets it go, while the pool stays.
    await run(['annotate', 'service', 'web', 'lbipam.cilium.io/ips-'])
    await apply(asking('after', second))
    await announced(context, { address: second, services: ['after'], machines })
    await announced(context, { address: first, services: ['web'], machines })
    await run(['annotate', 'service', 'web', 'lbipam.cilium.io/ips=0.0.0.0'])
    await withdrawn(context, 'web', first)

    await losesItsPool(context, machines)

    await other.agent.stop('SIGKILL')
    await announced(context, { address: third, services: ['late'], machines: [one.address] })
    await apply({ apiVersion: 'v1', kind: 'List', items: common('not the one') })
    await eventually(
      'every session ends',
      async (observe) => observe(await routers.sessions()).length === 0 || undefined,
    )
    assert.equal(await routers.routes(), [])
  }))

test.run()
