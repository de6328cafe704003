import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import {
  annotationsRequesting,
  multipleAddressAnnotation,
  outdatedRequestAnnotations,
  ownAddress,
} from '../../../ledger/want/own-address.ts'
import { makeService } from '../../builders.ts'
import type { RequestAnnotations } from '../../../settings/service-policy.ts'

const [ours, theirs] = ['203.0.113.40', '192.0.2.9']
const mark = { 'eip-admission.dev/address': ours }
const [newer, older] = ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs']
const metallb: RequestAnnotations = { annotations: [newer, older], besideSpec: false }
const kubeVip: RequestAnnotations = { annotations: ['kube-vip.io/loadbalancerIPs'], besideSpec: true }

const brought: { name: string; service: Service; own: ReturnType<typeof ownAddress> }[] = [
  { name: 'nothing', service: makeService(), own: undefined },
  {
    name: 'an address in the spec',
    service: makeService({ loadBalancerIP: theirs }),
    own: { address: theirs, where: 'spec.loadBalancerIP' },
  },
  {
    name: 'an address in an annotation',
    service: makeService({ annotations: { [newer]: theirs } }),
    own: { address: theirs, where: `annotation ${newer}` },
  },
  {
    name: 'an address in an annotation by its older name',
    service: makeService({ annotations: { [older]: theirs } }),
    own: { address: theirs, where: `annotation ${older}` },
  },
  {
    name: 'an address in an annotation beside one of ours',
    service: makeService({ annotations: { ...mark, [newer]: theirs }, loadBalancerIP: ours }),
    own: { address: theirs, where: `annotation ${newer}` },
  },
  {
    name: 'our own address in both',
    service: makeService({ annotations: { ...mark, [newer]: ours }, loadBalancerIP: ours }),
    own: undefined,
  },
  { name: 'an empty annotation', service: makeService({ annotations: { [newer]: '' } }), own: undefined },
  {
    name: "another software's annotation",
    service: makeService({ annotations: { 'kube-vip.io/loadbalancerIPs': theirs } }),
    own: undefined,
  },
]
for (const { name, service, own } of brought) {
  test(`own address of a Service with ${name}`, () => assert.equal(ownAddress(service, metallb), own))
}

test('with MetalLB every request annotation is outdated, with others only one for another address', () => {
  const asks = (requestAnnotations: RequestAnnotations, address: string) =>
    makeService({ annotations: Object.fromEntries(requestAnnotations.annotations.map((name) => [name, address])) })
  assert.equal(outdatedRequestAnnotations(asks(metallb, ours), metallb, ours), [newer, older])
  assert.equal(outdatedRequestAnnotations(asks(kubeVip, ours), kubeVip, ours), [])
  assert.equal(outdatedRequestAnnotations(asks(kubeVip, theirs), kubeVip, ours), kubeVip.annotations)
  assert.equal(outdatedRequestAnnotations(asks(kubeVip, ours), kubeVip, undefined), kubeVip.annotations)
  assert.equal(annotationsRequesting(asks(kubeVip, ours), kubeVip, ours), kubeVip.annotations)
  assert.equal(annotationsRequesting(asks(kubeVip, theirs), kubeVip, ours), [])
})

test("our own request for no address is nobody's own address", () => {
  const cilium = { annotations: ['lbipam.cilium.io/ips'], besideSpec: true, nothing: '0.0.0.0' }
  const of = (value: string) =>
    ownAddress(makeService({ annotations: { 'lbipam.cilium.io/ips': value } }), cilium)?.address
  assert.equal([of('0.0.0.0'), of('192.0.2.1')], [undefined, '192.0.2.1'])
})

test('a Service that requests several addresses is recognized unless it shows one of ours', () => {
  const several = { [newer]: `${theirs},2001:db8::1` }
  assert.is(multipleAddressAnnotation(makeService({ annotations: several }), metallb), newer)
  assert.is(multipleAddressAnnotation(makeService({ annotations: { ...several, ...mark } }), metallb), undefined)
  assert.is(multipleAddressAnnotation(makeService({ annotations: { [newer]: theirs } }), metallb), undefined)
})

test.run()
