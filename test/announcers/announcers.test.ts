import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubeVip } from '../../announcers/kube-vip.ts'
import { metallb } from '../../announcers/metallb.ts'
import { matches } from '../../announcers/metallb/label-selectors.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { marks } from './cluster.ts'

const ofMetallb = metallb(metallbObjects({ ...marks, peerMode: 'native' }))

test('MetalLB is asked by spec.loadBalancerIP alone, and writes the status alone', () => {
  assert.equal(ofMetallb.request('198.51.100.7'), { annotations: {} })
})

test('MetalLB lets go of the address of a Service that asks for a pool that is not there, by any name of the annotation', () => {
  const pool = 'disabled-metallb-do-not-use-any-address-pool'
  assert.equal(ofMetallb.withdrawal, {
    annotations: { 'metallb.universe.tf/address-pool': pool, 'metallb.io/address-pool': pool },
    clearsStatus: true,
  })
})

test('kube-vip reads the address from its annotation, which is never empty, and writes the status alone', () => {
  assert.equal(kubeVip().request('198.51.100.7'), { annotations: { 'kube-vip.io/loadbalancerIPs': '198.51.100.7' } })
  assert.equal(kubeVip().request(''), { annotations: {} })
  assert.is(kubeVip().configuration, undefined)
})

const labels = { tier: 'gold', zone: 'a' }
const selectors: [selector: Parameters<typeof matches>[0], is: boolean][] = [
  [{}, true],
  [{ matchLabels: { tier: 'gold' } }, true],
  [{ matchLabels: { tier: 'gold', zone: 'b' } }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, false],
  [{ matchExpressions: [{ key: 'rack', operator: 'NotIn', values: ['a'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'rack', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'rack', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'Near' }] }, false],
]
for (const [selector, is] of selectors) {
  test(`${JSON.stringify(selector)} ${is ? 'matches' : 'does not match'}`, () =>
    assert.is(matches(selector, labels), is))
}

test.run()
