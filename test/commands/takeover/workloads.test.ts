import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deployments, pods } from '../../../kube/workloads.ts'
import type { LabelSelector } from '../../../lib/label-selector.ts'
import { readWorkloads, stopStep } from '../../../commands/takeover/workloads.ts'
import { apiServer } from '../../fakes/api-server.ts'

const at = { namespace: 'kube-system', name: 'ccm' }
const selectors: { name: string; selector: LabelSelector }[] = [
  { name: 'labels', selector: { matchLabels: { app: 'ccm' } } },
  { name: 'expressions', selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['ccm'] }] } },
]

for (const { name, selector } of selectors)
  test(`a workload that selects its pods by ${name} is stopped when its last pod is deleted, and no other pod counts`, async () => {
    const api = apiServer()
    const put = (podName: string, app: string) =>
      void api.put(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: at.namespace, name: podName, labels: { app } },
      })
    api.put(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: at, spec: { replicas: 0, selector } })
    put('ccm-1', 'ccm')
    put('dns-1', 'dns')
    const workloads = () => readWorkloads(api.client, [{ kind: 'Deployment', ...at }])
    const step = stopStep(api.client, { title: 'Stop it', workloads })
    const missing = await step.missing()
    assert.is(missing?.text, 'Deployment kube-system/ccm still has 1 pod')
    assert.match(missing?.hint ?? '', 'kubectl get pod -n kube-system ccm-1')
    api.drop(pods, { namespace: at.namespace, name: 'ccm-1' })
    assert.is(await step.missing(), undefined)
  })

test.run()
