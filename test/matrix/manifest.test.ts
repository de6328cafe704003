// The leader applies the manifest that installs the announcing software.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { runProduct } from '../../sandbox/product.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { typed } from '../whole/command-line.ts'
import { eventually } from '../whole/eventually.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const file = join(stage.dir, 'announcer.yaml')
const flag = `--load-balancer-manifest=${file}`

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pools.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Pool', plural: 'pools', singular: 'pool' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const namespace = 'announcer'
const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  definition,
  { apiVersion: 'example.com/v1', kind: 'Pool', metadata: { name: 'first', namespace }, spec: { size: 1 } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'announcer' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'announcer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'announcer' },
    subjects: [{ kind: 'ServiceAccount', name: 'announcer', namespace }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'announcer', namespace },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  },
  { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata: { name: 'speaker' } },
]
const write = (all: object[]) => writeFileSync(file, all.map((object) => stringify(object)).join('---\n'))
const install = () =>
  runProduct(['install', `--kubeconfig=${stage.controlPlane.kubeconfig}`, '--webhook-url=https://127.0.0.1:1', flag])
const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')

test('a manifest file that is not YAML is refused at the start, with its name', async () => {
  writeFileSync(file, 'kind: [')
  const { provider, env } = dialects[dialect.name]
  const access = { url: stage.cloud.url, project: stage.project, token: stage.token }
  const { code, stderr } = await typed(['serve', `--cloud-provider=${provider}`, flag], env(access))
  assert.is(code, 1)
  for (const word of ['load balancer manifest', file, 'is not YAML (line', 'kubectl apply']) assert.match(stderr, word)
})

test('objects that our roles do not allow are logged with the command that grants them, and the product runs', async () => {
  write(objects)
  const product = await stage.start({ env: dialect.here, flags: [flag] })
  await eventually('the log says it', () => log().includes('objects are not applied') || undefined)
  assert.match(log(), `run eip-admission install with the flags that it had and --load-balancer-manifest=${file}`)
  await product.stop()
})

const applyManifest = once(async () => {
  write(objects)
  await install()
  const product = await stage.start({ env: dialect.here, flags: [flag] })
  await eventually('the last object is there', async () => {
    const { code } = await stage.kubectl(['get', 'pools.example.com', 'first', '-n', namespace])
    return code === 0 || undefined
  })
  assert.match(await stage.run('get', 'clusterrole', 'announcer', '-o', 'name'), 'announcer')
  await eventually(
    'only the policy is left',
    () => /1 of 7 objects are not applied: PodSecurityPolicy speaker/.test(log()) || undefined,
  )
  await product.stop()
})

test('with the rights every object of the manifest is applied whose kind exists, new kinds included', applyManifest)

test('the process gets rights on the objects of the manifest, and no others', async () => {
  await applyManifest()
  const may = async (verb: string, what: string, at = namespace) => {
    const self = '--as=system:serviceaccount:eip-admission:eip-admission'
    return (await stage.kubectl(['auth', 'can-i', verb, what, self, '-n', at])).stdout.trim()
  }
  assert.equal(
    await Promise.all(['clusterroles/announcer', 'pools.example.com/first'].map((what) => may('patch', what))),
    ['yes', 'yes'],
  )
  assert.is(await may('get', 'secrets'), 'yes', 'what its own role gives, or it could not create that')
  for (const [verb, what, at] of [
    ['get', 'secrets', 'kube-system'],
    ['patch', 'clusterroles/admin'],
    ['create', 'clusterrolebindings'],
    ['escalate', 'clusterroles/announcer'],
    ['bind', 'clusterroles/announcer'],
    ['patch', 'pools.example.com/first', 'default'],
    ['create', 'deployments.apps'],
  ] as const)
    assert.is(await may(verb, what, at), 'no', `${verb} ${what}`)
})

test('a manifest that binds a role of others is refused by install', async () => {
  const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'mine' } }
  write([...objects, { ...binding, roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } }])
  const [result] = await Promise.allSettled([install()])
  assert.is(result.status, 'rejected')
  assert.match(
    String(result.status === 'rejected' && result.reason),
    'binds ClusterRole cluster-admin, which is not in the file',
  )
})

test('a restart with a corrected manifest applies it, and restores fields that an administrator changed', async () => {
  await applyManifest()
  await stage.run(
    'patch',
    'pools.example.com',
    'first',
    '-n',
    namespace,
    '--type=merge',
    '-p',
    '{"spec":{"size":7,"mine":1}}',
  )
  write(objects.slice(0, -1))
  const product = await stage.start({ env: dialect.here, flags: [flag] })
  await eventually('it is applied', () => log().includes('manifest applied') || undefined)
  assert.is(
    await stage.run('get', 'pools.example.com', 'first', '-n', namespace, '-o', 'jsonpath={.spec}'),
    '{"mine":1,"size":1}',
  )
  await product.stop()
})

test.after(() => stage.stop())

test.run()
