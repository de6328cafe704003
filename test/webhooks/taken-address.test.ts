// The review of a user-chosen address with the real rules of user-chosen addresses.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { checkOwnAddress } from '../../ledger/want/own-address-rules.ts'
import type { Want } from '../../ledger/want/want.ts'
import { serviceValidating } from '../../webhooks/service-validating.ts'
import { makePolicy, makeService, metros } from '../builders.ts'

const taken = '198.51.100.7'
const requestAnnotation = 'metallb.io/loadBalancerIPs'
const policy = { ...makePolicy({ metro: 'da' }), managedAnnotation: 'example.com/managed' }

/** The verdict on an update, while these Services use the address. */
async function review({ object, oldObject, users }: { object: Service; oldObject: Service; users: Service[] }) {
  const check = (wanted: Want, service: Service) =>
    checkOwnAddress(wanted, service, {
      clusterNetwork: () => undefined,
      isInRanges: () => true,
      isReserved: () => true,
      reservation: () => undefined,
      scheme: { usage: 'auto', separator: '/', cluster: 'here' },
      nodeClaim: () => undefined,
      records: () => [],
      users: () => users,
    })
  const webhook = serviceValidating({
    policy,
    locations: () => metros,
    ownAddresses: { check, checkForeign: check, refresh: () => Promise.resolve() },
    isSelf: () => false,
  })
  const request = {
    uid: 'u',
    operation: 'UPDATE',
    namespace: object.metadata.namespace ?? '',
    object,
    oldObject,
  } as const
  const decision = await webhook.decide(request, AbortSignal.timeout(5_000))
  return decision.verdict === 'deny' ? decision.reason : decision.verdict
}

const showing = { loadBalancer: { ingress: [{ ip: taken }] } }
const user = makeService({
  namespace: 'rightful',
  creationTimestamp: '2026-02-01T00:00:00Z',
  loadBalancerIP: taken,
})
const older = { namespace: 'late', creationTimestamp: '2026-01-01T00:00:00Z' }
const asks = { loadBalancerIP: taken }
const annotated = { annotations: { [requestAnnotation]: taken } }
const handed = { 'example.com/managed': 'false' }

const cases: [name: string, object: Service, oldObject: Service][] = [
  ['that is older than its user', makeService({ ...older, ...asks }), makeService(older)],
  [
    'that shows it already',
    makeService({ ...older, ...asks, status: showing }),
    makeService({ ...older, status: showing }),
  ],
  ['in an annotation', makeService({ ...older, ...annotated }), makeService(older)],
  [
    'that becomes a LoadBalancer',
    makeService({ ...older, ...asks }),
    makeService({ ...older, ...asks, type: 'ClusterIP' }),
  ],
  [
    'that another program serves',
    makeService({ ...older, ...asks, annotations: handed }),
    makeService({ ...older, annotations: handed }),
  ],
]
for (const [name, object, oldObject] of cases)
  test(`an address that another namespace uses cannot be requested now by a Service ${name}`, async () => {
    assert.match(await review({ object, oldObject, users: [user, object] }), 'is used by Service rightful/web')
    assert.is(await review({ object, oldObject, users: [object] }), 'allow')
  })

test('Services of one namespace may share an address', async () => {
  const object = makeService({ ...older, ...asks, namespace: 'rightful', name: 'other' })
  const oldObject = makeService({ ...older, namespace: 'rightful', name: 'other' })
  assert.is(await review({ object, oldObject, users: [user] }), 'allow')
})

test.run()
