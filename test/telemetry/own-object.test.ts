import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ownObject } from '../../telemetry/event-recorders.ts'

const namespace = 'networking'

for (const { name, given, is } of [
  {
    name: 'in a pod, the Pod with the uid by which kubectl finds its Events',
    given: { podName: 'eip-admission-1', podUid: 'u-1' },
    is: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'eip-admission-1', namespace, uid: 'u-1' } },
  },
  {
    name: 'in a pod that knows its name alone, still the Pod',
    given: { podName: 'eip-admission-1', podUid: undefined },
    is: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'eip-admission-1', namespace } },
  },
  {
    name: 'outside the cluster, the namespace',
    given: { podName: undefined, podUid: undefined },
    is: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  },
])
  test(`what Events of the process are about: ${name}`, () => assert.equal(ownObject({ namespace, ...given }), is))

test.run()
