// `takeover plan` reports on a cluster with a predecessor, and writes nothing anywhere. Tables in
// test/commands/takeover have its decisions, and its reads in each dialect.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import type { TakeoverPlan } from '../../commands/takeover/plan/plan.ts'
import { type Predecessor, finalizersOf, predecessors, versionOf } from '../../inspect/predecessors.ts'
import type { DialectName } from '../../sandbox/dialect-names.ts'
import { typed } from '../whole/command-line.ts'
import { serviceTag } from '../whole/dialects.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { recordRequests } from '../whole/recorded-api-server.ts'
import { simulatedNodes } from '../whole/simulated-nodes.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const { cloud, project, token, controlPlane } = stage
const apiServer = await recordRequests(controlPlane)
const predecessor = predecessors.find(({ id }) => id === dialect.name) ?? ({} as Predecessor)
const images: Partial<Record<DialectName, string>> = {
  'equinix-metal': 'quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1',
  packet: 'packethost/packet-ccm:v1.1.0',
  'cherry-servers': 'ghcr.io/cherryservers/cloud-provider-cherry:v1.35.2',
}
const uid = await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')
const { workload, secret, provider } = predecessor
const finalizers = finalizersOf(predecessor, versionOf(images[dialect.name] ?? ''))
const [place = ''] = Object.values(dialect.here)
const { field: placeField } = dialect.placeSetting

type Ran = { stdout: string; stderr: string; code: number }

/** Runs the command as an administrator does, and checks that it wrote nothing and printed no secret. */
async function plan(...flags: string[]): Promise<Ran> {
  apiServer.requests.length = 0
  cloud.control.calls.clear()
  const here = [`--kubeconfig=${controlPlane.kubeconfig}`, `--api-server=${apiServer.url}`]
  const ran = await typed(['takeover', 'plan', ...here, ...flags], { PATH: process.env['PATH'] ?? '' })
  // The API server stores no answer to this question.
  const writes = apiServer.requests.filter(
    (request) => !request.startsWith('GET ') && !request.includes('/selfsubjectaccessreviews'),
  )
  assert.equal(writes, [], 'the plan wrote')
  const atCloud = cloud.control.calls.all().filter(({ method }) => method !== 'GET')
  assert.equal(
    atCloud.map(({ route }) => route),
    [],
    'the plan wrote at the provider',
  )
  assert.not.match(ran.stdout + ran.stderr, token)
  return ran
}

async function planned(...flags: string[]): Promise<{ plan: TakeoverPlan; code: number }> {
  const { stdout, stderr, code } = await plan('-o', 'json', ...flags)
  assert.is(stderr, '')
  return { plan: JSON.parse(stdout) as TakeoverPlan, code }
}

const byText = (one: string, other: string) => (one < other ? -1 : 1)
const reasons = (findings: TakeoverPlan['blockers']) => findings.map(({ reason }) => reason)

const file = {
  apiKey: token,
  projectID: project,
  'base-url': cloud.url,
  loadbalancer: 'empty://',
  [placeField]: place,
}

const labels = { app: workload.name }
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...workload, labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          {
            name: workload.name,
            image: images[dialect.name],
            command: [
              `./${workload.name}`,
              `--cloud-provider=${provider}`,
              '--leader-elect=false',
              '--authentication-skip-lookup=true',
              `--${dialect.name === 'packet' ? 'provider' : 'cloud'}-config=/etc/cloud-sa/cloud-sa.json`,
            ],
            volumeMounts: [{ name: 'cloud-sa-volume', readOnly: true, mountPath: '/etc/cloud-sa' }],
          },
        ],
        volumes: [{ name: 'cloud-sa-volume', secret: { secretName: secret.name } }],
      },
    },
  },
}

/** Writes a Service as the predecessor leaves it. */
async function serve(name: string, address: string): Promise<void> {
  await stage.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
  await stage.run('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers } }))
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  await stage.run('patch', 'service', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
}

const marksOf = (name: string) => [
  dialect.usage,
  serviceTag(dialect, `default/${name}`),
  ...(dialect.adoptsUnmarked ? [] : [`cluster=${uid}`]),
]

const nodes = simulatedNodes(stage)
await nodes.register('node-a', { cloudProvider: 'internal', providerID: `${dialect.scheme}${machine('node-a')}` })
const held = { web: await stage.order(marksOf('web')), api: await stage.order(marksOf('api')) }
const own = await stage.order(['mine'])

function machine(hostname: string): string {
  return String((stage.cloud.control.devices.add({ hostname }) as { id: unknown }).id)
}

test('without a predecessor there is no plan, and the message says what to do', async () => {
  const { code, stdout } = await plan()
  assert.is(code, 1)
  assert.match(stdout, 'Nothing was changed: no predecessor was found')
  assert.match(stdout, '--cloud-provider and --cloud-config=FILE')
})

test('every Service keeps its address, and nothing blocks the migration', async () => {
  await stage.send(['create'], {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: secret.namespace, name: secret.name },
    stringData: { [secret.key]: JSON.stringify(file) },
  })
  await stage.send(['create'], deployment)
  for (const [name, { address }] of Object.entries(held)) await serve(name, address)
  await serve('mine', own.address)
  const { plan: made, code } = await planned()
  assert.equal(made.blockers, [])
  assert.is(code, 0)
  assert.equal(
    made.services.map(({ name, before, after, held: how }) => [name, before, after, how]),
    [
      ['api', held.api.address, held.api.address, 'reserved'],
      ['mine', own.address, own.address, 'own'],
      ['web', held.web.address, held.web.address, 'reserved'],
    ],
  )
  assert.equal(
    made.reservations.map(({ id, whose, service, action }) => [id, whose, service, action].join(' ')).toSorted(byText),
    [
      `${held.api.id} service default/api ${dialect.adoptsUnmarked ? 'mark' : 'adopt'}`,
      `${held.web.id} service default/web ${dialect.adoptsUnmarked ? 'mark' : 'adopt'}`,
      `${own.id} own default/mine keep`,
    ].toSorted(byText),
  )
  assert.is(made.predecessor.id, dialect.name)
  assert.equal(
    made.predecessor.workloads.map(({ kind, name, replicas, isRunning }) => [kind, name, replicas, isRunning]),
    [['Deployment', workload.name, 1, true]],
  )
  assert.is(made.predecessor.lease.isUsed, false)
})

test('the settings become a values file and a Secret, and only the files hold what is in them', async () => {
  const folder = join(stage.dir, 'takeover')
  const { stdout, code } = await plan(`--write=${folder}`, '--max-addresses=7')
  assert.is(code, 0, stdout)
  assert.equal(parse(readFileSync(join(folder, 'values.yaml'), 'utf8')), {
    cloudProvider: provider,
    cloudConfig: { secretName: 'eip-admission-cloud', key: 'cloud-sa.json' },
    settings: { 'max-addresses': '7' },
  })
  assert.is(statSync(folder).mode & 0o777, 0o700)
  const written = parse(readFileSync(join(folder, 'secret.yaml'), 'utf8')) as { stringData: Record<string, string> }
  assert.equal(JSON.parse(written.stringData['cloud-sa.json'] ?? ''), file)
  const again = await plan(`--write=${folder}`)
  assert.is(again.code, 1)
  assert.match(again.stderr, 'name a folder that does not exist yet')
})

test('the plan for people has each Service, ends with what to type next, and keeps secrets', async () => {
  const { stdout } = await plan()
  assert.match(
    stdout,
    new RegExp(`default/web +${held.web.address} +stays +its reservation is adopted +${held.web.id}`),
  )
  assert.match(stdout, 'nothing is reserved and nothing is deleted in the project')
  const file = `--kubeconfig=${controlPlane.kubeconfig}`
  assert.match(stdout, `\n  kubectl ${file} create namespace eip-admission\n`)
  assert.match(stdout, `\n  helm ${file} install eip-admission manifests/chart `)
  assert.match(stdout, new RegExp(`\\n {2}eip-admission takeover apply ${file} --api-server=\\S+\\n$`))
  assert.match(stdout, `Secret ${secret.namespace}/${secret.name} (cloud-sa.json): apiKey, projectID`)
})

test('a person who may only read is told that apply needs an administrator', async () => {
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }]
  const at = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'reads-all' } }
  await stage.create({ ...at, kind: 'ClusterRole', rules })
  await stage.run('create', 'serviceaccount', 'reader', '-n', 'kube-system')
  await stage.run(
    'create',
    'clusterrolebinding',
    'reads-all',
    '--clusterrole=reads-all',
    '--serviceaccount=kube-system:reader',
  )
  const given = (await stage.run('create', 'token', 'reader', '-n', 'kube-system')).trim()
  const config = parse(readFileSync(controlPlane.kubeconfig, 'utf8')) as { users: { user: object }[] }
  for (const one of config.users) one.user = { token: given }
  const kubeconfig = join(stage.dir, 'reader.json')
  writeFileSync(kubeconfig, JSON.stringify(config))
  const env = { PATH: process.env['PATH'] ?? '' }
  const { stdout } = await typed(['takeover', 'plan', '-o', 'json', `--kubeconfig=${kubeconfig}`], env)
  const { blockers } = JSON.parse(stdout) as TakeoverPlan
  assert.equal(reasons(blockers), ['rights'], stdout)
  assert.match(blockers[0]?.what ?? '', 'you are not an administrator of the cluster')
})

test('a Service whose reservation the provider does not have blocks the migration', async () => {
  await serve('lost', '203.0.113.250')
  const { plan: made, code } = await planned()
  assert.is(code, 1)
  assert.equal(reasons(made.blockers), ['reservation-missing'])
  assert.is(made.blockers[0]?.where, 'Service default/lost')
  const { stdout } = await plan()
  assert.match(stdout, /Blocked: 1 thing blocks the migration\. Nothing was changed\./)
  await stage.run('patch', 'service', 'lost', '--type=merge', '-p', JSON.stringify({ metadata: { finalizers: [] } }))
  await stage.run('delete', 'service', 'lost')
})

test('a token without rights, and one of another project, block the migration', async () => {
  const wrong = { ...file, apiKey: 'revoked-token-of-somebody' }
  await changeFile(wrong)
  const { plan: made, code } = await planned()
  assert.is(code, 1)
  assert.ok(reasons(made.blockers).includes('cloud-access'), JSON.stringify(made.blockers))
  const { stdout } = await plan()
  assert.not.match(stdout, wrong.apiKey)
  await changeFile(file)
})

test('a setting that does not translate is named, and its secret neighbours are not shown', async () => {
  await changeFile({ ...file, loadbalancer: 'metalb:///' })
  const { stdout, code } = await plan()
  assert.is(code, 1)
  assert.match(stdout, "Nothing was changed: the predecessor's settings cannot be used as they are")
  assert.not.match(stdout, 'metalb:')
  assert.match(stdout, `the field loadbalancer of Secret ${secret.namespace}/${secret.name} (cloud-sa.json)`)
  await changeFile(file)
})

async function changeFile(content: object): Promise<void> {
  const patch = JSON.stringify({ stringData: { [secret.key]: JSON.stringify(content) } })
  await stage.run('patch', 'secret', '-n', secret.namespace, secret.name, '--type=merge', '-p', patch)
}

test.after(async () => {
  await apiServer.close()
  await stage.stop()
})

test.run()
