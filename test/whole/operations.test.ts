import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cleanupRules } from '../../manifests/cleanup-job.ts'
import { runProduct } from '../../sandbox/product.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { loadBalancer, unnamed } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ users: { remover: ['system:authenticated'] } })
const product = await stage.startSwept({ env: { METAL_METRO_NAME: 'da' } })
const cluster = `--kubeconfig=${stage.controlPlane.kubeconfig}`
const protect = 'eip-admission.dev/protect'
const upstream = 'service.kubernetes.io/load-balancer-cleanup'

const configurations = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']
const webhookField = async (kind: string, path: string) =>
  stage.run('get', kind, 'zz-eip-admission', `-o=jsonpath={.webhooks[0].clientConfig.${path}}`)

test('the secure port serves health at the paths that probes use', async () => {
  for (const path of ['/healthz', '/livez', '/readyz']) {
    const { status, text } = await product.health(path)
    assert.is(status, 200, path)
    assert.match(text, /^(\[\+\] \S+ ok\n)*ok\n$/)
  }
  const { text } = await product.health('/readyz')
  for (const check of ['certificates', 'synced-services', 'synced-records']) assert.match(text, `[+] ${check} ok`)
})

test('metrics count reviews and calls to the provider, and show the leader and the end of the certificate', async () => {
  await stage.create(loadBalancer('counted'))
  const { status, text } = await product.health('/metrics')
  assert.is(status, 200)
  const valueOf = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1),
    )
  const reviews = 'eip_admission_review_duration_seconds_count{webhook="reserve.eip-admission.dev",verdict="patch"}'
  assert.is(valueOf(reviews), 1)
  assert.is(valueOf('eip_admission_cloud_call_duration_seconds_count{call="reserve",result="201"}'), 1)
  assert.is(valueOf('eip_admission_leader'), 1)
  assert.ok(valueOf('eip_admission_cert_not_after_timestamp_seconds') > Date.now() / 1000)
})

test('a second install keeps URL and caBundle', async () => {
  const url = await webhookField('mutatingwebhookconfiguration', 'url')
  const bundles = await Promise.all(configurations.map((kind) => webhookField(kind, 'caBundle')))
  const output = await runProduct(['install', cluster, `--webhook-url=${new URL(url).origin}`])
  assert.match(output, 'applied MutatingWebhookConfiguration zz-eip-admission')
  assert.match(output, 'Next, run `eip-admission serve`')
  assert.ok(bundles.every((bundle) => bundle.length > 100))
  assert.equal(await Promise.all(configurations.map((kind) => webhookField(kind, 'caBundle'))), bundles)
  assert.is(await webhookField('mutatingwebhookconfiguration', 'url'), url)
  assert.ok((await stage.create(loadBalancer('after-install'))).spec.loadBalancerIP)
})

test('install can move the webhooks from a URL to a Service and back', async () => {
  const { origin } = new URL(await webhookField('mutatingwebhookconfiguration', 'url'))
  const refused = await typed(['install', cluster])
  assert.is(refused.code, 1)
  assert.match(refused.stderr, `\n  eip-admission install ${cluster} --webhook-url=${origin}\n`)
  for (const kind of configurations) assert.is(await webhookField(kind, 'service.namespace'), '')
  await runProduct(['install', cluster, '--overwrite'])
  for (const kind of configurations) {
    assert.is(await webhookField(kind, 'service.namespace'), 'eip-admission')
    assert.is(await webhookField(kind, 'url'), '')
  }
  await runProduct(['install', cluster, `--webhook-url=${origin}`])
  for (const kind of configurations) assert.is(await webhookField(kind, 'service.namespace'), '')
  await eventually('a Service has its address at once', async () => {
    const { spec } = await stage.create(unnamed('moved-'))
    return spec.loadBalancerIP
  })
})

test('install --dry-run prints YAML that the API server accepts, and changes nothing', async () => {
  const before = await stage.run('get', configurations.join(), '-o', 'yaml')
  const url = await webhookField('mutatingwebhookconfiguration', 'url')
  const { code, stdout, stderr } = await typed(['install', '--dry-run', `--webhook-url=${new URL(url).origin}`])
  assert.equal([code, stderr], [0, ''])
  const verb = ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '-f', '-']
  const output = await stage.kubectl(verb, stdout)
  assert.equal([output.code, output.stderr], [0, ''])
  const applied = output.stdout.trim().split('\n')
  assert.is(applied.length, stdout.split('\n---\n').length)
  for (const line of applied) assert.match(line, / serverside-applied \(server dry run\)$/)
  assert.is(await stage.run('get', configurations.join(), '-o', 'yaml'), before)
})

test('deleting a protected Service or changing its type is refused until its owner removes the protection', async () => {
  await stage.create(loadBalancer('precious', { annotations: { [protect]: 'true' } }))
  const address = await stage.settled('precious')
  const attempts = [
    ['delete', 'service', 'precious'],
    ['patch', 'service', 'precious', '-p', '{"spec":{"type":"ClusterIP"}}'],
  ]
  for (const attempt of attempts) {
    const { code, stderr } = await stage.kubectl(attempt)
    assert.is(code, 1)
    assert.match(stderr, `annotation ${protect}: "true"`)
  }
  assert.is(await stage.settled('precious'), address)
  await stage.run('annotate', '--overwrite', 'service', 'precious', `${protect}=false`)
  await stage.run('delete', 'service', 'precious', '--timeout=120s')
  await stage.gone('precious')
})

test('an idle connection does not keep the process from stopping', async () => {
  const { port } = new URL(await webhookField('mutatingwebhookconfiguration', 'url'))
  const silent = connect(Number(port), '127.0.0.1')
  await once(silent, 'connect')
  assert.is(await product.stop('SIGTERM', 60_000), 0)
  silent.destroy()
})

test('cleanup without --yes says what it would do, and does nothing', async () => {
  const address = await stage.settled('counted')
  const { code, stdout } = await typed(['cleanup', cluster])
  assert.is(code, 0)
  for (const kind of ['Mutating', 'Validating'])
    assert.match(stdout, `would delete ${kind}WebhookConfiguration zz-eip-admission`)
  assert.match(stdout, 'would remove the finalizer eip-admission.dev/address-cleanup from Service default/counted')
  assert.match(
    stdout,
    'would remove the finalizer eip-admission.dev/reservation-cleanup from ElasticIP default.counted',
  )
  assert.match(stdout, address)
  assert.match(stdout, 'The annotation eip-admission.dev/address stays on')
  assert.match(stdout, /Nothing was changed\..* `eip-admission cleanup --kubeconfig=\S+ --yes`/)
  for (const kind of configurations) await stage.run('get', kind, 'zz-eip-admission')
  assert.is(await stage.settled('counted'), address)
})

/** The kubeconfig of a user with the rights of the chart's Job. */
async function remover(): Promise<string> {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'remover' },
    rules: cleanupRules,
  }
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], role)
  assert.is(code, 0, stderr)
  await stage.run('create', 'clusterrolebinding', 'remover', '--clusterrole=remover', '--user=remover')
  return stage.controlPlane.kubeconfigFor('remover')
}

test('after cleanup --yes nothing blocks the cluster while the product is down', async () => {
  await product.stop()
  const [reservation] = stage.reserved()
  await stage.run('delete', 'service', 'after-install', '--wait=false')
  // A predecessor served this Service.
  await stage.run('patch', 'service', 'counted', '-p', JSON.stringify({ metadata: { finalizers: [upstream] } }))
  const { code, stdout } = await typed(['cleanup', `--kubeconfig=${await remover()}`, '--yes'])
  assert.is(code, 0)
  const both = `eip-admission.dev/address-cleanup and ${upstream}`
  assert.match(stdout, `removed the finalizer ${both} from Service default/counted`)
  assert.match(stdout, reservation?.id ?? 'no reservation')
  const again = await typed(['cleanup', cluster])
  assert.match(again.stdout, reservation?.id ?? 'no reservation')
  await stage.run('delete', 'service', 'counted', '--timeout=120s')
  await eventually('the other one goes as well', async () =>
    (await stage.service('after-install')) ? undefined : true,
  )
  await stage.run('delete', 'eip', '--all', '--timeout=120s')
  for (const kind of configurations) assert.is((await stage.kubectl(['get', kind, 'zz-eip-admission'])).code, 1)
  await stage.run('create', 'service', 'loadbalancer', 'plain', '--tcp=80:80')
  await stage.run('delete', 'service', 'plain', '--timeout=120s')
  await stage.run('delete', 'namespace', 'eip-admission', '--timeout=120s')
})

test('a last cleanup finds nothing to do', async () => {
  const { code, stdout } = await typed(['cleanup', cluster, '--yes'])
  assert.is(code, 0)
  assert.not.match(stdout, 'removed the finalizer')
  assert.match(stdout, 'No ElasticIP refers to a reservation.')
})

test.after(() => stage.close())

test.run()
