// The rights of the installed roles, and the webhooks while no process answers, as the API server sees them.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runProduct } from '../../sandbox/product.ts'
import { protectService, reserveAddress, validateService, validateServiceStatus } from '../../webhooks/webhook.ts'
import { eventually } from './eventually.ts'
import { letFail, refusedBy, requests, storeServices } from './refused-requests.ts'
import { openStage } from './test-stage.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { defineResource } from '../../kube/resource.ts'

const stage = await openStage()
const self = 'system:serviceaccount:eip-admission:eip-admission'

type Review = KubeObject & { spec: object; status?: { allowed: boolean } }

const reviews = defineResource<Review>({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
})

/** Checks a right as `kubectl auth can-i --as` does; `what` is a resource with its group, and may name an object. */
async function may({ namespace = 'default', user = self }, verb: string, what: string): Promise<boolean> {
  const [plural = '', name] = what.split('/')
  const [path = '', ...group] = plural.split('.')
  const [resource, subresource] = path.split(':')
  const [, ofAccount] = /^system:serviceaccount:([^:]+):/.exec(user) ?? []
  const groups = ofAccount === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${ofAccount}`]
  const spec = {
    user,
    groups: ['system:authenticated', ...groups],
    resourceAttributes: { namespace, verb, group: group.join('.'), resource, subresource, name },
  }
  const { apiVersion, kind } = reviews
  // The API server refuses a review that has a name.
  const metadata = {} as KubeObject['metadata']
  const { status } = await stage.client.create(reviews, { apiVersion, kind, metadata, spec })
  return status?.allowed === true
}

test('the process writes its own lease and no other', async () => {
  const leases = (verb: string, what: string) => may({ namespace: 'kube-system' }, verb, what)
  for (const verb of ['get', 'update'])
    assert.ok(await leases(verb, 'leases.coordination.k8s.io/cloud-controller-manager'), verb)
  assert.ok(await leases('create', 'leases.coordination.k8s.io'))
  for (const name of ['kube-controller-manager', 'kube-scheduler'])
    for (const verb of ['get', 'update', 'patch', 'delete'])
      assert.not(await leases(verb, `leases.coordination.k8s.io/${name}`), `${verb} ${name}`)
})

test('install gives the right to a lease of another name', async () => {
  const cluster = `--kubeconfig=${stage.controlPlane.kubeconfig}`
  await runProduct(['install', cluster, '--webhook-url=https://127.0.0.1:1', '--leader-elect-resource-name=mine'])
  await eventually(
    'the right is there',
    async () => (await may({ namespace: 'kube-system' }, 'update', 'leases.coordination.k8s.io/mine')) || undefined,
  )
  assert.not(await may({ namespace: 'kube-system' }, 'update', 'leases.coordination.k8s.io/cloud-controller-manager'))
})

test('the rights to the ConfigMap of MetalLB and to the Secret of its peers are rights in its namespace', async () => {
  const update = (namespace: string, name: string) => may({ namespace }, 'update', `configmaps/${name}`)
  const readPassword = (namespace: string) => may({ namespace }, 'get', 'secrets/eip-admission-bgp')
  assert.ok(await update('default', 'config'), 'before anybody says where MetalLB is')
  assert.ok(await readPassword('default'), 'the same of its Secret')
  const again = (...flags: string[]) =>
    runProduct([
      'install',
      `--kubeconfig=${stage.controlPlane.kubeconfig}`,
      '--webhook-url=https://127.0.0.1:1',
      ...flags,
    ])
  assert.match(await again('--loadbalancer=metallb:///lb/peers'), 'namespace lb does not exist yet')
  await eventually('it is given everywhere', async () => (await update('default', 'peers')) || undefined)
  await stage.run('create', 'namespace', 'lb')
  await again('--loadbalancer=metallb:///lb/peers')
  await eventually('it is given there', async () => (await update('lb', 'peers')) || undefined)
  await eventually('and nowhere else', async () => !(await update('default', 'peers')) || undefined)
  assert.ok(await readPassword('lb'))
  assert.not(await readPassword('default'))
  for (const [at, name] of [
    ['default', 'config'],
    ['lb', 'config'],
  ] as const)
    assert.not(await update(at, name))
})

test('the process and a guardian change the endpoints of the mirror Services alone', async () => {
  const guardian = 'system:serviceaccount:eip-admission:eip-admission-control-plane'
  const mirror = 'packet-ccm-kubernetes-external'
  for (const user of [self, guardian]) {
    const here = (verb: string, what: string) => may({ namespace: 'kube-system', user }, verb, what)
    for (const verb of ['get', 'update', 'delete'])
      assert.ok(await here(verb, `endpointslices.discovery.k8s.io/${mirror}-1`), verb)
    for (const verb of ['update', 'patch', 'delete']) {
      assert.not(await here(verb, 'endpointslices.discovery.k8s.io/kube-dns-abcde'), verb)
      assert.not(await here(verb, 'endpoints/kube-dns'), verb)
      assert.not(await here(verb, 'endpointslices.discovery.k8s.io'), verb)
    }
    for (const what of ['services', 'endpointslices.discovery.k8s.io']) {
      assert.ok(await here('create', what), what)
      assert.not(await may({ namespace: 'default', user }, 'create', what), what)
    }
    assert.not(await here('delete', `services/${mirror}`))
  }
  for (const verb of ['patch', 'update'])
    assert.not(await may({ namespace: 'kube-system', user: guardian }, verb, 'services/kube-dns'))
  assert.ok(await may({ namespace: 'kube-system', user: guardian }, 'patch', `services/${mirror}`))
})

test('the process reads no Secret of another program, and no ConfigMap', async () => {
  for (const namespace of ['kube-system', 'default', 'eip-admission'])
    for (const what of ['secrets', 'secrets/other', 'configmaps', 'configmaps/other'])
      for (const verb of ['get', 'list', 'update']) assert.not(await may({ namespace }, verb, what), `${verb} ${what}`)
})

test('a guardian alone reads nodes and endpoints, and writes its own lease and the mirror Service', async () => {
  const user = 'system:serviceaccount:eip-admission:eip-admission-control-plane'
  const mayGuard = (namespace: string, verb: string, what: string) => may({ user, namespace }, verb, what)
  for (const verb of ['list', 'watch']) {
    assert.ok(await mayGuard('default', verb, 'nodes'))
    assert.ok(await mayGuard('default', verb, 'endpointslices.discovery.k8s.io'))
    // No rule can name only the slices of the mirror Service.
    assert.ok(await mayGuard('kube-system', verb, 'endpointslices.discovery.k8s.io'))
    assert.not(await mayGuard('eip-admission', verb, 'endpointslices.discovery.k8s.io'))
  }
  for (const who of [user, self])
    for (const verb of ['get', 'update'])
      assert.ok(
        await may(
          { user: who, namespace: 'kube-system' },
          verb,
          'leases.coordination.k8s.io/eip-admission-control-plane',
        ),
      )
  assert.not(await mayGuard('kube-system', 'update', 'leases.coordination.k8s.io/cloud-controller-manager'))
  for (const what of ['nodes', 'services', 'secrets', 'elasticips.eip-admission.dev'])
    for (const verb of ['patch', 'update', 'delete'])
      assert.not(await mayGuard('kube-system', verb, what), `${verb} ${what}`)
})

test('who may view the cluster reads ElasticIPs; only a role that is bound on purpose writes them', async () => {
  // The controller manager adds every role that these labels select to view, and the rules of view to edit.
  const selected = async (label: string) =>
    (await stage.run('get', 'clusterrole', '-l', `rbac.authorization.k8s.io/${label}=true`, '-o', 'name')).split('\n')
  assert.ok((await selected('aggregate-to-view')).some((role) => role.endsWith('/eip-admission-view')))
  for (const label of ['aggregate-to-edit', 'aggregate-to-admin'])
    assert.not(
      (await selected(label)).some((role) => role.includes('eip-admission')),
      label,
    )

  const elasticIPs = (user: string, verb: string, what = 'elasticips') =>
    may({ user }, verb, `${what}.eip-admission.dev`)
  for (const role of ['eip-admission-view', 'eip-admission-editor']) {
    await stage.run('create', 'clusterrolebinding', `test-${role}`, `--clusterrole=${role}`, `--user=${role}`)
    await eventually(`${role} may read`, async () => (await elasticIPs(role, 'list')) || undefined, 20_000)
  }
  for (const verb of ['create', 'update', 'patch', 'delete']) {
    assert.not(await elasticIPs('eip-admission-view', verb), verb)
    assert.ok(await elasticIPs('eip-admission-editor', verb), verb)
    assert.not(await elasticIPs('eip-admission-editor', verb, 'elasticips:status'))
  }
})

const [reserve, validate] = [reserveAddress.name, validateService.name]
const others = [validateServiceStatus.name, protectService.name]

test('while no process answers, failurePolicy Fail refuses what a webhook would review, and nothing else', async () => {
  await storeServices(stage)
  const all = requests(stage)
  // A create that the first webhook refuses never reaches the second, so each of the two fails separately.
  for (const failing of [
    [reserve, ...others],
    [validate, ...others],
  ]) {
    await letFail(stage, failing)
    // The API server applies a changed configuration a moment later.
    for (const name of failing) {
      const [what = name, send] = all.find(([, , webhooks]) => webhooks.includes(name)) ?? []
      if (send)
        await eventually(`${what}: refused by ${name}`, async () => (await refusedBy(send)) === name || undefined)
    }
    const found: unknown[] = []
    for (const [what, send] of all) found.push([what, await refusedBy(send)])
    assert.equal(
      found,
      all.map(([what, , webhooks]) => [what, webhooks.find((name) => failing.includes(name))]),
    )
  }
})

test.after(() => stage.stop())

test.run()
