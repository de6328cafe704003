// A stock MetalLB beside the Service of the control-plane address.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { eventually, unchanging } from '../whole/eventually.ts'
import { guardMirror } from '../whole/guarded-mirror.ts'
import { byHand } from './by-hand.ts'
import { type Context, withRig } from './stage.ts'

const [address, other] = ['203.0.113.77', '203.0.113.7']
const name = 'cloud-provider-equinix-metal-kubernetes-external'
const namespace = 'kube-system'

const mirrorOf = async ({ run }: Context) =>
  JSON.parse(await run(['get', 'service', name, '-n', namespace, '-o', 'json'])) as Service
const shownIn = ({ status }: Service) => status?.loadBalancer?.ingress?.[0]?.ip
const waysTo = async ({ routers }: Context, to: string) =>
  (await routers.routes()).filter(({ prefix }) => prefix === `${to}/32`)

/** Starts API servers, and a Service that MetalLB announces: by then it has also handled the mirror. */
async function startNeighbours(context: Context): Promise<void> {
  await context.apply({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
  })
  await context.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', loadBalancerIP: other, selector: { app: 'web' }, ports: [{ port: 80 }] },
  })
  await eventually('its own Service is announced', async () => (await waysTo(context, other)).length > 0 || undefined)
}

for (const version of ['0.13.12', '0.16.1'] as const)
  test(`MetalLB ${version} neither announces the control-plane address nor takes it from its Service, though a pool has it`, () =>
    withRig({ version }, async (context) => {
      const one = await context.node({ name: 'node-a', address: '10.0.1.1' })
      await byHand(version, context).configure([one], [address, other])
      const mirror = guardMirror(context.controlPlane, { key: `${namespace}/${name}`, user: 'admin' })
      mirror.setAddress(address)
      await startNeighbours(context)
      await eventually('it shows its address', async () => {
        const shown = await mirrorOf(context).then(shownIn, () => undefined)
        return shown === address || undefined
      })
      const before = await unchanging('it', () => mirrorOf(context))
      await sleep(3_000)
      assert.equal(await mirrorOf(context), before)
      assert.equal(await waysTo(context, address), [])
      await mirror.stop()
    }))

test('the Service of a predecessor, which has no class, is not announced either, and MetalLB and we do not fight', () =>
  withRig({ version: '0.16.1' }, async (context) => {
    const one = await context.node({ name: 'node-a', address: '10.0.1.1' })
    await byHand('0.16.1', context).configure([one], [other])
    await context.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { type: 'LoadBalancer', loadBalancerIP: address, ports: [{ name: 'https', port: 6443 }] },
    })
    const mirror = guardMirror(context.controlPlane, { key: `${namespace}/${name}`, user: 'admin' })
    mirror.setAddress(address)
    await startNeighbours(context)
    await eventually('it is contested', () => mirror.log.some((line) => line.includes('keeps reverting')) || undefined)
    const version = Number((await mirrorOf(context)).metadata.resourceVersion)
    await sleep(5_000)
    const later = Number((await mirrorOf(context)).metadata.resourceVersion)
    assert.ok(later - version < 120, `${later - version} writes in the cluster in five seconds`)
    assert.equal(await waysTo(context, address), [])

    // The text of the Event.
    await context.run(['delete', 'service', name, '-n', namespace])
    await eventually('another one shows it', async () => {
      const text = await context.run(['get', 'service', name, '-n', namespace, '--ignore-not-found', '-o', 'json'])
      return (text !== '' && shownIn(JSON.parse(text) as Service) === address) || undefined
    })
    await sleep(3_000)
    assert.is(shownIn(await mirrorOf(context)), address)
    assert.equal(await waysTo(context, address), [])
    await mirror.stop()
  }))

test.run()
