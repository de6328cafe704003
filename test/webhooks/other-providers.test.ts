// Annotations for other providers: a chart has them, and nobody reads them on a Service that we serve.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { serviceValidating } from '../../webhooks/service-validating.ts'
import { makePolicy, makeService } from '../builders.ts'

const location = 'load-balancer.hetzner.cloud/location'
const nlb = 'service.beta.kubernetes.io/aws-load-balancer-type'
const foreign = { [location]: 'fsn1', [nlb]: 'nlb' }

type Case = { name: string; object: Service; oldObject?: Service; names?: string }
const cases: Case[] = [
  {
    name: 'at the creation of a Service names them',
    object: makeService({ annotations: foreign }),
    names: `${location}, ${nlb}`,
  },
  {
    name: 'at an update names those that it adds',
    object: makeService({ annotations: foreign }),
    oldObject: makeService({ annotations: { [nlb]: 'nlb' } }),
    names: location,
  },
  {
    name: 'names one that an update changes',
    object: makeService({ annotations: foreign }),
    oldObject: makeService({ annotations: { ...foreign, [nlb]: 'external' } }),
    names: nlb,
  },
  {
    name: 'is not repeated at an update that leaves them',
    object: makeService({ annotations: foreign, labels: { team: 'web' } }),
    oldObject: makeService({ annotations: foreign }),
  },
  {
    name: 'is not given for a Service of another class',
    object: makeService({ annotations: foreign, loadBalancerClass: 'example.com/other' }),
  },
  {
    name: 'is not given for a Service without a load balancer',
    object: makeService({ annotations: foreign, type: 'ClusterIP' }),
  },
  { name: 'is not given for other annotations', object: makeService({ annotations: { 'example.com/location': 'a' } }) },
]

const policy = makePolicy({ metro: 'da' })
const prefixes = ['load-balancer.hetzner.cloud/', 'service.beta.kubernetes.io/']
const webhook = serviceValidating({
  policy: { ...policy, annotations: { ...policy.annotations, ineffective: prefixes } },
  locations: () => undefined,
  ownAddresses: { check: (wanted) => wanted, checkForeign: (wanted) => wanted, refresh: () => Promise.resolve() },
  isSelf: () => false,
})

for (const { name, object, oldObject, names } of cases)
  test(`the warning of annotations without effect ${name}`, async () => {
    const operation = oldObject ? ('UPDATE' as const) : ('CREATE' as const)
    const request = { uid: 'u', operation, namespace: 'default', object, oldObject: oldObject ?? null }
    const decision = await webhook.decide(request, AbortSignal.timeout(5000))
    const text = `${names}: an annotation of another provider, which eip-admission does not read`
    assert.equal(decision, { verdict: 'allow', warnings: names === undefined ? [] : [text] })
  })

test.run()
