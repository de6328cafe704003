// Which workloads are predecessors with pods.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { replacedProgram } from '../../../clouds/dialects.ts'
import { predecessorIn } from '../../../controllers/predecessors/running-predecessor.ts'

const cpem = 'quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1'
const rows: { name: string; kind?: string; image?: string; spec?: object; status?: object; isFound: boolean }[] = [
  { name: 'one replica by default', isFound: true },
  { name: 'no replica', spec: { replicas: 0 }, isFound: false },
  { name: 'no replica, and a pod that ends', spec: { replicas: 0 }, status: { replicas: 1 }, isFound: true },
  { name: 'another program', image: 'registry.example/web:v1', isFound: false },
  { name: 'an image that only begins so', image: `${cpem.split(':')[0]}-exporter:v1`, isFound: false },
  { name: 'a DaemonSet with pods', kind: 'DaemonSet', status: { desiredNumberScheduled: 2 }, isFound: true },
  { name: 'a DaemonSet that runs nowhere', kind: 'DaemonSet', status: { desiredNumberScheduled: 0 }, isFound: false },
]

for (const { name, kind = 'Deployment', image = cpem, spec = {}, status = {}, isFound } of rows)
  test(`a workload with ${name}`, () => {
    const template = { spec: { containers: [{ image: 'proxy' }, { image }] } }
    const metadata = { namespace: 'kube-system', name: 'ccm' }
    const found = predecessorIn(
      { apiVersion: 'apps/v1', kind, metadata, spec: { template, ...spec }, status },
      replacedProgram,
    )
    assert.is(found.length > 0, isFound)
  })

test.run()
