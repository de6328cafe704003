// What the installed roles allow, as the API server sees it.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runProduct } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const self = 'system:serviceaccount:eip-admission:eip-admission'

async function may({ namespace = 'default', user = self }, verb: string, ...what: string[]): Promise<boolean> {
  const { stdout } = await stage.kubectl(['auth', 'can-i', verb, ...what, `--as=${user}`, '-n', namespace])
  return stdout.trim() === 'yes'
}

test('the process writes its own lease and no other', async () => {
  const leases = (verb: string, what: string) => may({ namespace: 'kube-system' }, verb, what)
  for (const verb of ['get', 'update']) assert.ok(await leases(verb, 'leases/cloud-controller-manager'), verb)
  assert.ok(await leases('create', 'leases'))
  for (const name of ['kube-controller-manager', 'kube-scheduler'])
    for (const verb of ['get', 'update', 'patch', 'delete'])
      assert.not(await leases(verb, `leases/${name}`), `${verb} ${name}`)
})

test('install gives the right to a lease of another name', async () => {
  const cluster = `--kubeconfig=${stage.controlPlane.kubeconfig}`
  await runProduct(['install', cluster, '--webhook-url=https://127.0.0.1:1', '--leader-elect-resource-name=mine'])
  await eventually(
    'the right is there',
    async () => (await may({ namespace: 'kube-system' }, 'update', 'leases/mine')) || undefined,
  )
  assert.not(await may({ namespace: 'kube-system' }, 'update', 'leases/cloud-controller-manager'))
})

test('the process reads no Secret of another program, and no ConfigMap', async () => {
  for (const namespace of ['kube-system', 'default', 'eip-admission'])
    for (const what of ['secrets', 'secrets/other', 'configmaps', 'configmaps/other'])
      for (const verb of ['get', 'list', 'update']) assert.not(await may({ namespace }, verb, what), `${verb} ${what}`)
})

test('who may view the cluster reads ElasticIPs; only a role that is bound on purpose writes them', async () => {
  const elasticIPs = (user: string, verb: string, ...more: string[]) =>
    may({ user }, verb, 'elasticips.eip-admission.dev', ...more)
  for (const role of ['view', 'edit', 'eip-admission-editor'])
    await stage.run('create', 'clusterrolebinding', `test-${role}`, `--clusterrole=${role}`, `--user=${role}`)
  const writes = ['create', 'update', 'patch', 'delete']
  // The API server's own controller fills the aggregated roles.
  for (const user of ['view', 'edit', 'eip-admission-editor'])
    await eventually(`${user} may read`, async () => (await elasticIPs(user, 'list')) || undefined, 20_000)
  for (const verb of writes) {
    for (const user of ['view', 'edit']) assert.not(await elasticIPs(user, verb), `${user} may not ${verb}`)
    assert.ok(await elasticIPs('eip-admission-editor', verb), verb)
    assert.not(await elasticIPs('eip-admission-editor', verb, '--subresource=status'))
  }
})

test.after(() => stage.stop())

test.run()
