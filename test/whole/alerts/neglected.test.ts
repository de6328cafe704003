// Neglected problems: objects that the controllers cannot finish, reservations, limits and certificates.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import { connect } from '../../../kube/connect.ts'
import { kubeconfig } from '../../../kube/kubeconfig.ts'
import { mutatingWebhookConfigurations, services, validatingWebhookConfigurations } from '../../../kube/resource.ts'
import { names, serviceAccountUser } from '../../../settings/installed-names.ts'
import { issueAuthority, issueLeaf } from '../../../certs/authority.ts'
import { toCaBundle } from '../../../certs/bundle.ts'
import { eventually } from '../eventually.ts'
import { loadBalancer } from '../manifests.ts'
import { simulatedNodes } from '../simulated-nodes.ts'
import { openStage } from '../test-stage.ts'
import { dialectOf } from '../dialects.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const { startNode, say, events } = simulatedNodes(stage)

const us = serviceAccountUser('eip-admission')
const kind = 'ValidatingAdmissionPolicy'
const apiVersion = 'admissionregistration.k8s.io/v1'

/** A policy by which an administrator forbids only us to write the status of Services. */
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
  inHours(stage, 'writes-denied', async ({ start, pass, expect }) => {
    await start('a')
    await pass(10)
    await forbid()
    await stage.create(loadBalancer('denied'))
    for (let n = 0; n < 30; n += 1) {
      // Without changes, the controller would retry ever more rarely, in real time.
      await stage.run('label', 'service', 'denied', `n=${n}`, '--overwrite')
      await pass(2, { load: false })
    }
    await stage.run('delete', kind, 'no-status')
    // This address is not announced either: with `empty://` we show it ourselves.
    await expect(['EIPAdmissionAddressesNotAnnounced', 'EIPAdmissionReconcilesFail'])
  }),
)

test(
  'a node whose machine no longer exists, and that is only reported',
  inHours(stage, 'node-removal-held', async ({ start, pass, expect }) => {
    await start('a', ['--node-removal=report', '--node-monitor-period=1s', '--node-removal-delay=1s'])
    // A cloud that lists no machine proves nothing.
    await startNode('kept')
    const { id } = await startNode('lost')
    await pass(10)
    stage.cloud.control.devices.remove(id)
    await say('lost', 'Unknown')
    await eventually('an Event reports it', async () => (await events('lost')).includes('NodeNotDeleted') || undefined)
    await pass(60)
    await expect(['EIPAdmissionNodeRemovalHeld'])
    await stage.run('delete', 'node', 'lost')
  }),
)

test(
  'an orphan that only is reported, and a limit that is nearly reached',
  inHours(stage, 'orphan-and-limit', async ({ start, pass, expect }) => {
    const cluster = await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')
    const { id } = await stage.order([dialectOf('equinix-metal').usage, `cluster=${cluster}`, 'service=unknown'])
    await start('a', ['--sweep=report', '--max-addresses=1'])
    await pass(150)
    await expect(['EIPAdmissionLimitNear', 'EIPAdmissionReservationsUnneeded'])
    stage.cloud.control.reservations.vanish(id)
  }),
)

test(
  'addresses that no software announces',
  inHours(stage, 'not-announced', async ({ start, pass, expect }) => {
    await start('a', ['--loadbalancer=kube-vip://'])
    await pass(40, { paceMs: 50 })
    await expect(['EIPAdmissionAddressesNotAnnounced'])
  }),
)

test(
  'a replaced program that is started again beside the leader',
  inHours(stage, 'predecessor-runs', async ({ start, pass, expect }) => {
    const at = { namespace: 'kube-system', name: 'ccm' }
    const labels = { app: 'ccm' }
    const containers = [{ name: 'ccm', image: 'quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1' }]
    const template = { metadata: { labels }, spec: { containers } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    await stage.send(['create'], { apiVersion: 'apps/v1', kind: 'Deployment', metadata: at, spec })
    await start('a')
    await pass(10)
    await expect(['EIPAdmissionPredecessorRuns'])
    await stage.run('delete', 'deployment', at.name, '-n', at.namespace)
  }),
)

const hourMs = 3_600_000

test(
  'an authority that ends in six days',
  inHours(stage, 'authority-ends', async ({ start, pass, expect }) => {
    // Otherwise the authority of earlier processes would stay in use.
    await stage.run('delete', 'secret', names.authoritySecret, '-n', 'eip-admission', '--ignore-not-found')
    await start('a', ['--webhook-ca-lifetime=144h', '--webhook-cert-lifetime=48h'])
    await pass(25)
    await expect(['EIPAdmissionAuthorityEndsSoon'])
  }),
)

/** Issues a certificate into a folder, as another program does, and has the API server trust it. */
async function mount(lifetimeMs: number): Promise<string> {
  const now = Date.now()
  const authority = await issueAuthority({ commonName: 'other', now, lifetimeMs: 24 * 365 * hourMs })
  const { cert, key } = await issueLeaf({ authority, hosts: ['127.0.0.1'], now, lifetimeMs })
  const folder = join(stage.dir, 'mounted')
  mkdirSync(folder)
  writeFileSync(join(folder, 'tls.crt'), cert)
  writeFileSync(join(folder, 'tls.key'), key)
  const caBundle = toCaBundle(authority.cert)
  for (const resource of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    const stored = await stage.client.get(resource, { name: 'zz-eip-admission' })
    const webhooks = stored?.webhooks?.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle } }))
    await stage.client.patch(resource, { name: 'zz-eip-admission', patch: { merge: { webhooks } } })
  }
  return folder
}

test(
  'a mounted certificate that ends in five hours',
  inHours(stage, 'certificate-ends', async ({ start, pass, expect }) => {
    await start('a', [`--webhook-cert-dir=${await mount(5 * hourMs)}`])
    await pass(25)
    await expect(['EIPAdmissionCertificateEndsSoon'])
  }),
)

test.after(() => stage.close())

test.run()
