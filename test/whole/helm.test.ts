// A stage that helm installs, as `make sandbox INSTALL=helm` does, with the Deployment's arguments and environment.
// `doctor` finds its settings there.
import type { Pod } from '../../kube/workloads.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import type { Result } from '../../commands/doctor/check.ts'
import { runPlugin } from '../../kubectl-eip/program.ts'
import { runHelm } from '../../sandbox/run-helm.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { untilReviewed } from './reviewed.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ install: 'helm', users: { reader: ['system:authenticated'] } })
const { controlPlane } = stage
const metro = { METAL_METRO_NAME: 'da' }
await stage.startSwept({ env: metro })
await untilReviewed(stage.client)

test('a Service gets its address from the product that the chart describes', async () => {
  const created = await stage.create(loadBalancer('web'))
  assert.match(created.spec.loadBalancerIP ?? '', /^\d+\./)
  assert.is(stage.reserved().length, 1)
})

test('helm knows the release, and the webhooks are at the URL of its values', async () => {
  assert.match(await stage.run('get', 'secret', '-n', 'eip-admission', '-o', 'name'), /sh\.helm\.release/)
  const url = '{.webhooks[0].clientConfig.url}'
  const found = await stage.run('get', 'mutatingwebhookconfiguration', 'zz-eip-admission', '-o', `jsonpath=${url}`)
  assert.match(found, /^https:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{32}\/mutate-services$/)
})

type Report = { exitCode: number; settingsFrom: string[]; results: Result[] }

/** Runs `doctor` with no setting except the cluster. */
const doctor = (kubeconfig: string, ...flags: string[]) =>
  typed(['doctor', `--kubeconfig=${kubeconfig}`, ...flags], { PATH: process.env['PATH'] ?? '' })

const found = ['Deployment eip-admission/eip-admission', 'Secret eip-admission/eip-admission-cloud (cloud-sa.json)']

test('doctor without flags reads the Deployment and its Secret, and finds nothing wrong', async () => {
  // A controller may need a second attempt after a start, and reports the failure of the first.
  await eventually('doctor finds nothing', async (observe) => {
    const { stdout, stderr } = await doctor(controlPlane.kubeconfig, '-o', 'json')
    assert.not.match(stdout + stderr, stage.token)
    const { settingsFrom, results } = JSON.parse(observe(stdout === '' ? stderr : stdout)) as Report
    assert.equal(settingsFrom, found)
    const of = (id: string) => results.filter(({ check }) => check === id).map(({ level }) => level)
    assert.equal([of('cloud-access'), of('location'), of('settings-without-effect')], [['ok'], ['ok'], ['ok']])
    return results.every(({ level }) => level !== 'error' && level !== 'warning') || undefined
  })
  const { stdout } = await doctor(controlPlane.kubeconfig)
  assert.match(stdout, `Settings of ${found.join(' and ')}\n\nAPI server\n  ok       `)
  assert.match(stdout, ' [cluster-id]\n')
})

test('a flag takes precedence over the settings that doctor finds', async () => {
  const { stdout } = await doctor(controlPlane.kubeconfig, '-o', 'json', '--metro=nowhere')
  const { results } = JSON.parse(stdout) as Report
  assert.match(results.find(({ check }) => check === 'location')?.what ?? '', 'nowhere')
})

test('kubectl eip doctor is the same', async () => {
  let output = ''
  const print = (text: string) => void (output += text)
  const flags = ['-o', 'json', `--kubeconfig=${controlPlane.kubeconfig}`]
  await runPlugin(['doctor', ...flags], { version: 'test', print, printError: print, ask: undefined })
  assert.equal((JSON.parse(output) as Report).settingsFrom, found)
})

test('doctor says which right is missing, and what to give it instead', async () => {
  const nothing = await doctor(controlPlane.kubeconfigFor('reader'))
  assert.is(nothing.code, 1)
  assert.match(nothing.stderr, /cannot list resource "deployments"/)
  await stage.run('create', 'clusterrole', 'deployments', '--verb=list', '--resource=deployments')
  await stage.run('create', 'clusterrolebinding', 'deployments', '--clusterrole=deployments', '--user=reader')
  const secret = await doctor(controlPlane.kubeconfigFor('reader'))
  assert.equal([secret.code, secret.stdout], [1, ''])
  assert.match(
    secret.stderr,
    /Secret eip-admission\/eip-admission-cloud cannot be read: .*cannot get resource "secrets"/,
  )
  assert.match(secret.stderr, 'Run doctor as a user who may read it, or give doctor the flags')
})

test('a Deployment that another namespace labels as that of eip-admission is not taken for it', async () => {
  const labels = { 'app.kubernetes.io/name': 'eip-admission' }
  const containers = [{ name: 'eip-admission', image: 'example.com/eip-admission', args: ['--cloud-provider=hetzner'] }]
  await stage.run('create', 'namespace', 'a-team')
  const created = await stage.kubectl(['create', '-f', '-'], {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'eip-admission', namespace: 'a-team', labels },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  })
  assert.is(created.code, 0, created.stderr)
  const { stdout } = await doctor(controlPlane.kubeconfig, '-o', 'json')
  assert.equal((JSON.parse(stdout) as Report).settingsFrom, found)
  const unsure = await doctor(controlPlane.kubeconfigFor('reader'))
  assert.match(unsure.stderr, 'a-team/eip-admission and eip-admission/eip-admission have the label')
})

test('helm test runs doctor with the settings and the rights of serve, and finds no error', async () => {
  const hooks = await runHelm(['get', 'hooks', 'eip-admission', '-n', 'eip-admission'], {
    KUBECONFIG: controlPlane.kubeconfig,
  })
  const pods = hooks.split(/^---$/m).map((text) => parse(text) as Pod | null)
  const pod = pods.find((one) => one?.metadata.name === 'eip-admission-test')
  const [container] = pod?.spec?.containers ?? []
  const { args = [], env = [] } = container ?? {}
  const file = join(stage.dir, 'cloud-sa.json')
  writeFileSync(file, JSON.stringify({ apiKey: stage.token, projectID: stage.project }), { mode: 0o600 })
  const kubeconfig = controlPlane.kubeconfigFor('system:serviceaccount:eip-admission:eip-admission')
  const given = args.map((arg) => arg.replace(/^--cloud-config=.*/, `--cloud-config=${file}`))
  const variables = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]))
  const { code, stdout, stderr } = await typed([...given, `--kubeconfig=${kubeconfig}`], {
    PATH: process.env['PATH'] ?? '',
    ...Object.fromEntries(variables),
  })
  assert.is(code, 0, stdout + stderr)
  assert.match(stdout, /\n0 errors, .* could not be checked\. Nothing was changed\.\n$/)
})

test.after(() => stage.close())

test.run()
