import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubeVip } from '../../announcers/kube-vip.ts'
import { metallb } from '../../announcers/metallb.ts'
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

test.run()
