// The behaviour of MetalLB that we rely on, configured by hand: how it announces, and what makes it withdraw.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metallb } from '../../announcers/metallb/metallb.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import type { MetallbVersion } from '../../sandbox/metallb/build.ts'
import { isSince } from '../../sandbox/rig/metallb-args.ts'
import type { AnnouncementState } from '../../announcers/check.ts'
import { readMetallbDocument } from '../../announcers/metallb/read-document.ts'
import { eventually } from '../whole/eventually.ts'
import { shownIn } from '../whole/stored.ts'
import { byHand } from './by-hand.ts'
import { type Context, withRig } from './stage.ts'

const [first, second, third] = ['203.0.113.7', '203.0.113.8', '203.0.113.9']

function asking(name: string, address: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', finalizers: ['example.com/held'] },
    spec: { type: 'LoadBalancer', loadBalancerIP: address, selector: { app: 'web' }, ports: [{ port: 80 }] },
  }
}

async function waysTo({ routers }: Context, address: string): Promise<string[]> {
  const routes = await routers.routes()
  return routes.filter(({ prefix }) => prefix === `${address}/32`).map(({ router, via }) => `${router} ${via}`)
}

function announced(context: Context, address: string, machines: string[]): Promise<true> {
  const wanted = ['169.254.255.1', '169.254.255.2'].flatMap((router) => machines.map((via) => `${router} ${via}`))
  return eventually(`${address} is announced by ${machines.length} machines`, async (observe) => {
    const ways = observe(await waysTo(context, address))
    return ways.toSorted().join() === wanted.toSorted().join() || undefined
  })
}

/** Waits until the Service does not show the address, and no router has a route to it. */
function withdrawal(context: Context, name: string, address: string): Promise<true> {
  return eventually(`${name} shows nothing, and there is no way to ${address}`, async (observe) => {
    const [service, ways] = observe(await Promise.all([context.service(name), waysTo(context, address)]))
    return (shownIn(service) === undefined && ways.length === 0) || undefined
  })
}

/**
 * Checks the facts that `doctor` reads from this MetalLB: the Services that its speakers announce, or a healthy
 * ConfigMap.
 */
async function isReadByDoctor({ run }: Context, version: MetallbVersion, services: string[]): Promise<void> {
  if (isSince(version, '0.15'))
    await eventually('the speakers say what they announce', async (observe) => {
      const { items } = JSON.parse(await run(['get', 'servicebgpstatuses', '-A', '-o', 'json'])) as {
        items: AnnouncementState[]
      }
      const shown = items.filter(({ status }) => status?.peers?.length)
      const keys = shown.map(({ status }) => `${status?.serviceNamespace}/${status?.serviceName}`)
      return (
        observe([...new Set(keys)])
          .toSorted()
          .join() === services.toSorted().join() || undefined
      )
    })
  if (isSince(version, '0.13')) return
  const text = await run(['get', 'configmap', '-n', 'metallb-system', 'config', '-o', 'json'])
  const { pools, peers, problems } = readMetallbDocument(JSON.parse(text) as ConfigMap)
  assert.equal(problems, [])
  assert.ok(pools.length >= services.length && peers > 0)
}

/** Withdraws a Service's address, as the product does. */
const withdrawalPatch = JSON.stringify({
  metadata: { annotations: metallb({} as never).withdrawal?.annotations },
  spec: { loadBalancerIP: null },
})

/** The oldest, which reads a ConfigMap, and the newest. With the product every version runs: matrix/rig/announce.test.ts. */
for (const version of ['0.16.1', '0.11.0'] as const) {
  test(`MetalLB ${version} announces from every node, and withdraws what the product withdraws`, () =>
    withRig({ version }, async (context) => {
      const { apply, run, node, routers } = context
      const one = await node({ name: 'node-a', address: '10.0.1.1' })
      const other = await node({ name: 'node-b', address: '10.0.1.2' })
      const machines = [one.address, other.address]
      const hand = byHand(version, context)
      await hand.configure([one, other], [first, second, third])
      await apply(asking('web', first))
      await apply(asking('leaving', second))
      await announced(context, first, machines)
      await announced(context, second, machines)
      assert.is(shownIn(await context.service('web')), first)
      await isReadByDoctor(context, version, ['default/web', 'default/leaving'])

      // Deleted, but held by a finalizer: MetalLB announces until the product withdraws.
      await run(['delete', 'service', 'leaving', '--wait=false'])
      await run(['patch', 'service', 'web', '--type=merge', '-p', withdrawalPatch])
      await withdrawal(context, 'web', first)
      await announced(context, second, machines)
      await run(['patch', 'service', 'leaving', '--type=merge', '-p', withdrawalPatch])
      await withdrawal(context, 'leaving', second)
      await isReadByDoctor(context, version, [])

      // MetalLB has loaded the configuration without their pools: it announces a later Service.
      await hand.configure([one, other], [third])
      await apply(asking('later', third))
      await announced(context, third, machines)

      await other.speaker.stop('SIGKILL')
      await announced(context, third, [one.address])
      await hand.setPassword('not the one')
      await eventually(
        'every session ends',
        async (observe) => observe(await routers.sessions()).length === 0 || undefined,
      )
      await eventually('no route is left', async (observe) => {
        return observe(await routers.routes()).length === 0 || undefined
      })
    }))
}

test('MetalLB 0.16.1 gives the address of a pool that is for one namespace to no other, and keeps a route meanwhile', () =>
  withRig({ version: '0.16.1' }, async (context) => {
    const { apply, run, node, routers } = context
    const one = await node({ name: 'node-a', address: '10.0.1.1' })
    await byHand('0.16.1', context).configure([one], [third])
    await run(['create', 'namespace', 'tenant'])
    const squatter = (name: string, pool: string) => {
      const spec = { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] }
      const metadata = { name, namespace: 'tenant', annotations: { 'metallb.io/address-pool': pool } }
      return { apiVersion: 'v1', kind: 'Service', metadata, spec }
    }
    const pool = (address: string, namespaces?: string[]) => ({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name: address, namespace: 'metallb-system' },
      spec: {
        addresses: [`${address}/32`],
        autoAssign: false,
        ...(namespaces && { serviceAllocation: { namespaces } }),
      },
    })
    const shownBy = async (name: string) =>
      run(['get', 'service', '-n', 'tenant', name, '-o', 'jsonpath={.status.loadBalancer.ingress[*].ip}'])

    await apply(squatter('first', first))
    await apply(squatter('second', second))
    await apply(pool(first))
    await eventually('who names a pool for all gets its address', async (observe) => {
      return observe(await shownBy('first')) === first || undefined
    })
    await apply(pool(second, ['default']))
    await apply(asking('web', second))
    await announced(context, second, [one.address])
    assert.is(await shownBy('second'), '')

    // Pools for Services of more namespaces, and of one less: MetalLB loads a later pool after these.
    await apply(pool(second, ['default', 'shop']))
    await apply(pool(third, ['default']))
    await apply(asking('later', third))
    await announced(context, third, [one.address])
    await apply(pool(second, ['default']))
    await run(['delete', 'service', 'later', '--wait=false'])
    await run(['patch', 'service', 'later', '--type=merge', '-p', withdrawalPatch])
    await withdrawal(context, 'later', third)
    await announced(context, second, [one.address])
    assert.equal(
      routers.changes().filter(({ what, prefix }) => what === 'lost' && prefix === `${second}/32`),
      [],
    )
    assert.is(await shownBy('second'), '')
  }))

test.run()
