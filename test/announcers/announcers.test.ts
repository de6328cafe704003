import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubeVip } from '../../announcers/kube-vip/kube-vip.ts'
import { metallb } from '../../announcers/metallb/metallb.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { marks } from './cluster.ts'

const ofMetallb = metallb(metallbObjects({ ...marks, peerMode: 'native' }))

test('MetalLB gets its request from spec.loadBalancerIP alone, and only MetalLB writes the status', () => {
  assert.equal(ofMetallb.request('198.51.100.7'), { annotations: {} })
})

test('MetalLB withdraws an address when both pool annotations of the Service name a pool that does not exist', () => {
  const pool = 'disabled-metallb-do-not-use-any-address-pool'
  assert.equal(ofMetallb.withdrawal, {
    annotations: { 'metallb.universe.tf/address-pool': pool, 'metallb.io/address-pool': pool },
    clearsStatus: true,
  })
})

test('kube-vip gets its request from the spec alone, and only kube-vip writes the status', () => {
  assert.equal(kubeVip().request('198.51.100.7'), { annotations: {} })
  assert.is(kubeVip().configuration, undefined)
})

test.run()
