// Requests about Services, and the webhooks that the API server calls for each: without an answer, it refuses only
// these requests.
import { serviceAccountUser } from '../../settings/installed-names.ts'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { Service } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations, services, validatingWebhookConfigurations } from '../../kube/resource.ts'
import { protectService, reserveAddress, validateService, validateServiceStatus } from '../../webhooks/webhook.ts'
import { type Facts, finalizer, loadBalancer } from './manifests.ts'
import type { TestStage } from './test-stage.ts'

const [reserve, validate] = [reserveAddress.name, validateService.name]
const [status, protect] = [validateServiceStatus.name, protectService.name]
const dry = { dryRun: true }
const theirs = { loadBalancerClass: 'example.com/theirs' }
const clusterIP = { type: 'ClusterIP' }

/** The webhooks that may fail a request if the operator wants; the probe's own objects are not Services. */
const reviewing: string[] = [reserve, validate, status, protect]

type Called = [what: string, send: () => Promise<unknown>, webhooks: string[]]

function service(name: string, { namespace = 'default', ...facts }: Facts = {}): Service {
  return loadBalancer(name, { namespace, ...facts }) as Service
}

/** Stores the objects while webhooks still answer. The deletion of `ending` waits for our finalizer. */
export async function storeServices({ client }: TestStage): Promise<void> {
  const protection = (value: string) => ({ annotations: { 'eip-admission.dev/protect': value } })
  for (const one of [
    service('inner', { spec: clusterIP }),
    service('outer'),
    service('classed', { spec: theirs }),
    service('dear', protection('true')),
    service('cheap', protection('false')),
  ])
    await client.create(services, one)
  const ending = service('ending')
  await client.create(services, { ...ending, metadata: { ...ending.metadata, finalizers: [finalizer] } })
  await client.remove(services, { namespace: 'default', name: 'ending' })
}

/** The requests, none of which changes anything, and the webhooks whose conditions each meets. */
export function requests({ client, controlPlane }: TestStage): Called[] {
  const file = controlPlane.kubeconfigFor(serviceAccountUser('eip-admission'))
  const self = connect(kubeconfig({ file }), { userAgent: 'test', timeoutMs: 30_000 })
  const create = (facts: Facts) => () => client.create(services, service('new', facts), dry)
  const change = (name: string, merge: object) => ({ namespace: 'default', name, patch: { merge } })
  const patch = (name: string, merge: object) => () => client.patch(services, change(name, merge), dry)
  const patchStatus = (name: string, merge: object) => () =>
    client.patch(services, change(name, merge), { ...dry, subresource: 'status' })
  const remove = (name: string) => () => client.remove(services, { namespace: 'default', name }, dry)
  const labels = { metadata: { labels: { team: 'web' } } }
  const annotations = { metadata: { annotations: { 'example.com/owner': 'web' } } }
  const ports = { spec: { ports: [{ port: 81 }] } }
  const shown = { status: { loadBalancer: { ingress: [{ ip: '203.0.113.40' }] } } }
  return [
    ['create a LoadBalancer', create({}), [reserve, validate]],
    ['create a ClusterIP', create({ spec: clusterIP }), []],
    ['create one of another class', create({ spec: theirs }), []],
    ['create one in our own namespace', create({ namespace: 'eip-admission' }), []],
    ['label a LoadBalancer', patch('outer', labels), [reserve, validate]],
    ['label a ClusterIP', patch('inner', labels), []],
    ['label one of another class', patch('classed', labels), []],
    ['label one as ourselves', () => self.patch(services, change('outer', labels), dry), []],
    ['make a ClusterIP a LoadBalancer', patch('inner', { spec: { type: 'LoadBalancer' } }), [reserve, validate]],
    ['make a LoadBalancer a ClusterIP', patch('outer', { spec: clusterIP }), [reserve, validate]],
    [
      'make one of another class a ClusterIP',
      patch('classed', { spec: { ...clusterIP, loadBalancerClass: null } }),
      [],
    ],
    ['make a ClusterIP one of another class', patch('inner', { spec: { type: 'LoadBalancer', ...theirs } }), []],
    ['end the finalizer of a deletion', patch('ending', { metadata: { finalizers: null } }), []],
    ['change the spec during a deletion', patch('ending', ports), [validate]],
    ['annotate during a deletion', patch('ending', annotations), [validate]],
    ['write the status of a LoadBalancer', patchStatus('outer', shown), []],
    ['write the status of a deletion', patchStatus('ending', shown), []],
    ['annotate a LoadBalancer by its status', patchStatus('outer', annotations), [status]],
    ['annotate a ClusterIP by its status', patchStatus('inner', annotations), []],
    ['annotate one of another class by its status', patchStatus('classed', annotations), []],
    ['delete a ClusterIP', remove('inner'), []],
    ['delete a LoadBalancer', remove('outer'), []],
    ['delete one of another class', remove('classed'), []],
    ['delete one without protection', remove('cheap'), []],
    ['delete a protected one', remove('dear'), [protect]],
  ]
}

/** Sets `Fail` for these webhooks, so that the API server refuses their requests; it admits the others'. */
export async function letFail({ client }: TestStage, names: string[]): Promise<void> {
  for (const resource of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    const stored = await client.get(resource, { name: 'zz-eip-admission' })
    const webhooks = (stored?.webhooks ?? []).map((webhook) =>
      reviewing.includes(webhook.name)
        ? { ...webhook, failurePolicy: names.includes(webhook.name) ? 'Fail' : 'Ignore' }
        : webhook,
    )
    await client.patch(resource, { name: 'zz-eip-admission', patch: { merge: { webhooks } } })
  }
}

/** The webhook whose failure makes the API server refuse a request; undefined if the request succeeds. */
export async function refusedBy(send: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await send()
    return undefined
  } catch (error) {
    const [, webhook] = /failed calling webhook "([^"]+)"/.exec(String(error)) ?? []
    if (webhook === undefined) throw error
    return webhook
  }
}
