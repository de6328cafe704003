import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubeVip } from '../../announcers/kube-vip/kube-vip.ts'
import type { Announcer } from '../../announcers/announcer.ts'
import { softwares } from '../../announcers/announcers.ts'
import { ciliumSoftware } from '../../announcers/cilium/cilium.ts'
import { loadBalancer } from '../../announcers/load-balancer-setting.ts'
import { metallb } from '../../announcers/metallb/metallb.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { keptAnnotations } from '../../ledger/want/own-address.ts'
import { makeService } from '../builders.ts'
import { marks } from './cluster.ts'

const ofMetallb = metallb(metallbObjects({ ...marks, peerMode: 'native' }))

test('MetalLB gets its request from spec.loadBalancerIP alone, and only MetalLB writes the status', () => {
  assert.equal(ofMetallb.request('198.51.100.7'), {})
})

test('MetalLB withdraws an address when both pool annotations of the Service name a pool that does not exist', () => {
  const pool = 'disabled-metallb-do-not-use-any-address-pool'
  assert.equal(ofMetallb.withdrawal, {
    annotations: { 'metallb.universe.tf/address-pool': pool, 'metallb.io/address-pool': pool },
    clearsStatus: true,
  })
})

test('Cilium may share an address among Services of one namespace, and never with another one', () => {
  const chosen = { kind: 'cilium', secretsNamespace: 'kube-system' } as const
  const requests = ciliumSoftware.requests(chosen)
  // A tenant of another namespace needs the key alone to get the address, where the Service permits his namespace.
  const kept = keptAnnotations(makeService(), requests, { address: '198.51.100.7', users: [] })
  assert.equal(kept, { 'lbipam.cilium.io/sharing-key': '198.51.100.7' })
})

test('kube-vip gets its request from the spec alone, and only kube-vip writes the status', () => {
  assert.equal(kubeVip().request('198.51.100.7'), {})
  assert.is(kubeVip().configuration, undefined)
})

const { read } = loadBalancer({ namespaceAlone: 'undecided' })
for (const software of softwares) {
  for (const scheme of Object.keys(software.schemes)) {
    test(`${scheme}: what we configure is found again when the setting chooses nothing any more`, () => {
      const reading = read(`${scheme}:///`)
      if (!('value' in reading)) return assert.unreachable(reading.right)
      const of = { ...marks, counting: 'nomatch.metal.equinix.com' }
      const { configuration } = software.announcer(reading.value, of)
      const former = software.former?.({ kind: 'none' }, of)
      const { objects, document } = formsOf(configuration)
      const mayCreate = ({ plural }: { plural: string }) =>
        software.rules?.some(({ resources, verbs }) => resources.includes(plural) && verbs.includes('create'))
      // A kind in which we may change one object alone, such as a Secret, is found by what lies beside it.
      const own = objects?.kinds.filter(({ resource, only }) => only === undefined && mayCreate(resource)) ?? []
      const shared = objects?.kinds.filter(({ isShared }) => isShared) ?? []
      const plurals = (all: readonly { plural: string }[] = []) => all.map(({ plural }) => plural).toSorted()
      assert.equal(plurals(former?.kinds), plurals(own.map(({ resource }) => resource)))
      assert.equal(
        plurals(former?.shared?.map(({ resource }) => resource)),
        plurals(shared.map(({ resource }) => resource)),
      )
      assert.equal(former?.document?.at, document?.at)
    })
  }
}

test('the namespace of other software says nothing of the ConfigMap of a previous MetalLB', () => {
  const of = { ...marks, counting: 'nomatch.metal.equinix.com' }
  const placeUnder = (setting: string) => {
    const reading = read(setting)
    if (!('value' in reading)) return reading.right
    const [at] = softwares.flatMap((software) => software.former?.(reading.value, of)?.document?.at ?? [])
    return at && `${at.namespace}/${at.name}`
  }
  assert.is(placeUnder('calico:///kube-system'), 'metallb-system/config')
  assert.is(placeUnder('cilium:///kube-system'), 'metallb-system/config')
  assert.is(placeUnder('metallb:///lb/peers'), 'lb/peers')
  assert.is(placeUnder('metallb:///lb?crdConfiguration=true'), 'lb/config')
})

function formsOf(configuration: Announcer['configuration']) {
  if (configuration?.kind === 'either') return configuration
  return {
    objects: configuration?.kind === 'objects' ? configuration : undefined,
    document: configuration?.kind === 'document' ? configuration : undefined,
  }
}

test.run()
