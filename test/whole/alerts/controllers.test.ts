// Controllers that cannot finish: a policy denies what they write, or they may not delete a node.
import { test } from 'uvu'
import { connect } from '../../../kube/connect.ts'
import { kubeconfig } from '../../../kube/kubeconfig.ts'
import { services } from '../../../kube/resource.ts'
import { serviceAccountUser } from '../../../manifests/names.ts'
import { eventually } from '../eventually.ts'
import { loadBalancer } from '../manifests.ts'
import { simulatedNodes } from '../simulated-nodes.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { startNode, say } = simulatedNodes(stage)

const us = serviceAccountUser('eip-admission')
const kind = 'ValidatingAdmissionPolicy'
const apiVersion = 'admissionregistration.k8s.io/v1'

/** Objects by which an administrator forbids us, and nobody else, to write the status of Services. */
const policy = [
  {
    apiVersion,
    kind,
    metadata: { name: 'no-status' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['services/status'] },
        ],
      },
      validations: [{ expression: `request.userInfo.username != '${us}'` }],
    },
  },
  {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { name: 'no-status' },
    spec: { policyName: 'no-status', validationActions: ['Deny'] },
  },
]

/** Creates the policy, and waits until the API server enforces it. */
async function forbid(): Promise<void> {
  for (const object of policy) await stage.send(['create'], object)
  const client = connect(kubeconfig({ file: stage.controlPlane.kubeconfigFor(us) }), {
    userAgent: 'test',
    timeoutMs: 30_000,
  })
  const nothing = { namespace: 'default', name: 'kubernetes', patch: { merge: { status: {} } } }
  await eventually('the policy is enforced', async (observe) => {
    const answer = client.patch(services, nothing, { subresource: 'status' })
    return answer.then(
      () => undefined,
      (error: unknown) => observe(String(error)).includes(kind) || undefined,
    )
  })
}

test(
  'a policy that denies what a controller writes',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    await forbid()
    await stage.create(loadBalancer('denied'))
    for (let n = 0; n < 30; n += 1) {
      // Without changes it would be tried ever more rarely, by real time.
      await stage.run('label', 'service', 'denied', `n=${n}`, '--overwrite')
      await pass(2, { load: false })
    }
    await stage.run('delete', kind, 'no-status')
    await expect(['EIPAdmissionReconcilesFail'])
  }),
)

test(
  'a node whose machine is gone, and that is only reported',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', ['--node-removal=report', '--node-monitor-period=1s', '--node-removal-delay=1s'])
    // A cloud that lists no machine proves nothing.
    await startNode('kept')
    const { id } = await startNode('lost')
    await pass(10)
    stage.cloud.control.devices.remove(id)
    await say('lost', 'Unknown')
    await pass(60, { paceMs: 100 })
    await expect(['EIPAdmissionNodeRemovalHeld'])
  }),
)

test.after(() => stage.close())

test.run()
