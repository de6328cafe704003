// Objects that we wrote for MetalLB in another namespace, or before the setting chose other software.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObjectConfiguration } from '../../../announcers/announcer.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import { type IPAddressPool, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import type { LoadBalancer } from '../../../announcers/setting.ts'
import { nothingToAnnounce } from '../../../controllers/announcing/configurator.ts'
import { formerObjects } from '../../../controllers/announcing/empty-former.ts'
import { apiServer } from '../../fakes/api-server.ts'

const signal = new AbortController().signal
const marks = { label: { name: 'example.com/by', value: 'us' }, advertisement: 'adv', counting: 'example.com' }
const labels = { 'app.kubernetes.io/managed-by': 'eip-admission', 'example.com/by': 'us' }
const [address, other] = ['203.0.113.40', '203.0.113.41']

/** A cluster with our pool in each namespace, and what a setting leaves to do with them. */
function scene(chosen: LoadBalancer, pools: { namespace: string; spec: IPAddressPool['spec'] }[]) {
  const api = apiServer()
  for (const { namespace, spec } of pools) {
    const metadata = { namespace, name: (spec.addresses[0] ?? '').replace('/32', ''), labels }
    api.put(ipAddressPools, { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata, spec })
  }
  const { configuration, former = [] } = announcerOf(chosen, marks)
  const current: ObjectConfiguration | undefined = configuration?.kind === 'objects' ? configuration : undefined
  const metallb = former.find(({ kinds }) => kinds.some(({ kind }) => kind === ipAddressPools.kind))
  if (!metallb) throw new Error('MetalLB may be a previous one')
  const left = () => api.stored(ipAddressPools)
  return { ...formerObjects({ client: api.client, former: metallb, current }), left }
}

test('a MetalLB in another namespace loses what we wrote there, and the one of now keeps its own', async () => {
  const before = scene({ kind: 'metallb-crd', namespace: 'metallb-system', peerMode: 'native' }, [
    { namespace: 'lb', spec: { addresses: [`${address}/32`] } },
    { namespace: 'metallb-system', spec: { addresses: [`${other}/32`] } },
  ])
  assert.is(await before.announces(address, signal), true, 'it may run still, so the address is not released')
  assert.is(await before.announces(other, signal), false)
  assert.is((await before.carryOut(nothingToAnnounce, signal)).isChanged, true)
  assert.equal(
    before.left().map(({ metadata }) => metadata.namespace),
    ['metallb-system'],
  )
  assert.is(await before.announces(address, signal), false)
})

test('while a previous pool stays it is for every Service that shows its address, as before', async () => {
  const serviceAllocation = { namespaces: ['default', 'shop'] }
  const pool = { addresses: [`${address}/32`], autoAssign: false, serviceAllocation }
  const before = scene({ kind: 'kube-vip' }, [{ namespace: 'metallb-system', spec: pool }])
  const state = {
    addresses: [{ address, services: ['default/web'] }],
    visible: [{ address, services: ['default/web', 'shop/web'] }],
    nodes: [],
  }
  assert.is(await before.withdraw(state, signal), false, 'without it MetalLB would take the address from the other one')
  assert.equal(
    before.left().map(({ spec }) => spec),
    [pool],
  )
})

test.run()
