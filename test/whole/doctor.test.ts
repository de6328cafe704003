// The report of `doctor` on a healthy cluster and on a broken one; it changes neither.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Result } from '../../commands/doctor/check.ts'
import { nodes } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { typed } from './command-line.ts'
import { type Reservation, dialectOf, serviceTag } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { recordRequests } from './recorded-api-server.ts'
import { follow, isWrong, remedyOf, shellOf } from './remedies.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { openStage } from './test-stage.ts'
import { remedyText } from '../../lib/remedy.ts'

const stage = await openStage()
const { cloud, project, token, controlPlane } = stage
const apiServer = await recordRequests(controlPlane)
const { startNode, register, device } = simulatedNodes(stage)
const goneTag = serviceTag(dialectOf('equinix-metal'), 'default/gone')
const settings = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }

/** `isBusy`: `serve` writes to the cloud at the same time. */
type Asked = { flags?: string[]; env?: Record<string, string>; kubeconfig?: string; isBusy?: boolean }

/** Runs `doctor` as an operator does, and checks that it wrote nothing. */
async function doctor({ flags = [], env = {}, kubeconfig = controlPlane.kubeconfig, isBusy = false }: Asked = {}) {
  apiServer.requests.length = 0
  cloud.control.calls.clear()
  const all = { ...dialects['equinix-metal'].env({ url: cloud.url, project, token }), ...settings, ...env }
  const { PATH = '' } = process.env
  const place = ['--cloud-provider=equinixmetal', `--base-url=${cloud.url}`, `--api-server=${apiServer.url}`]
  const run = await typed(['doctor', ...place, `--kubeconfig=${kubeconfig}`, ...flags], { PATH, ...all })
  const writes = apiServer.requests.filter((request) => !request.startsWith('GET '))
  const dryRuns = writes.filter((request) => /^POST \S+\/configmaps\?dryRun=All$/.test(request))
  assert.equal(writes.length - dryRuns.length, 0, `doctor wrote: ${writes.join(', ')}`)
  assert.ok(apiServer.requests.length > 20)
  const ofUs = cloud.control.calls.all().filter(({ method }) => method !== 'GET')
  assert.equal(isBusy ? [] : ofUs.map(({ route }) => route), [], 'doctor wrote at the provider')
  assert.not.match(run.stdout + run.stderr, token)
  return run
}

/** The report for programs: its findings by check. */
async function results(asked: Asked = {}) {
  const { stdout, code } = await doctor({ ...asked, flags: [...(asked.flags ?? []), '-o', 'json'] })
  const report = JSON.parse(stdout) as { exitCode: number; summary: Record<string, number>; results: Result[] }
  assert.is(report.exitCode, code)
  const of = (check: string) => report.results.filter((result) => result.check === check)
  return { ...report, of, texts: (check: string) => of(check).map(({ level, what }) => `${level}: ${what}`) }
}

const product = await stage.startSwept({ env: settings })
await startNode('one')
await startNode('two')
await stage.create(loadBalancer('web'))
const address = await stage.settled('web')
await stage.create(loadBalancer('lost'))
const lost = await stage.settled('lost')
// A late write of `serve` to the cloud would count as doctor's.
await eventually(
  'each node has its BGP session',
  () => cloud.control.calls.count('POST /devices/{id}/bgp/sessions') >= 2 || undefined,
)

test('a healthy cluster has no error and no warning, and doctor states that in words', async () => {
  // A controller may need a second attempt after a start, and reports the failure of the first.
  await eventually(
    'doctor finds nothing',
    async (observe) => /\n0 errors, 0 warnings,/.test(observe(await doctor()).stdout) || undefined,
  )
  const { stdout, stderr, code } = await doctor()
  assert.equal([code, stderr], [0, ''], stdout)
  assert.match(stdout, /\n0 errors, 0 warnings, \d+ ok, \d+ to check manually\. Nothing was changed\.\n$/, stdout)
  for (const line of ['API server\n  ok ', 'the API server calls the webhooks and uses their answers', 'Rights\n  ok '])
    assert.match(stdout, line)
  assert.not.match(stdout, 'ERROR')
})

test('a quota that is used up is in the report, in the words of the provider, although the refused Service is not there', async () => {
  cloud.control.quota.set(0)
  const { stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('refused'))
  cloud.control.quota.set(200)
  assert.match(stderr, dialectOf('equinix-metal').words.quota)
  const said = await eventually('doctor names it', async (observe) => {
    const { texts } = await results()
    return observe(texts('recent-errors')).find((text) => text.includes('ReserveRefused'))
  })
  assert.match(said, `refuses to reserve an address: `)
  assert.match(said, dialectOf('equinix-metal').words.quota)
})

test('anyone who may read little learns which rights are missing', async () => {
  const kubeconfig = controlPlane.kubeconfigFor('system:serviceaccount:eip-admission:eip-admission')
  const { exitCode, results: all, texts } = await results({ kubeconfig })
  assert.is(exitCode, 2)
  assert.is(all.filter(({ level }) => level === 'error').length, 0)
  assert.match(
    texts('predecessor').join(),
    /unknown: predecessor could not be checked, because .*cannot list resource "pods"/,
  )
  assert.match(texts('roles').join(), /cannot get resource "(cluster)?role/)
  assert.match(texts('shown-not-held').join(), 'ok: every address')
})

test('an API server that does not answer, and a token that is refused, hide no other check', async () => {
  const dead = await typed(
    [
      'doctor',
      '--cloud-provider=equinixmetal',
      `--base-url=${cloud.url}`,
      '--api-server=https://127.0.0.1:1',
      `--kubeconfig=${controlPlane.kubeconfig}`,
    ],
    { PATH: process.env['PATH'] ?? '', METAL_API_KEY: token, METAL_PROJECT_ID: project, ...settings },
  )
  assert.is(dead.code, 2)
  assert.match(dead.stdout, /unknown {2}.*leader.* could not be checked, because .*ECONNREFUSED/)
  assert.match(dead.stdout, 'the token may read the project')
  const { exitCode, of, texts } = await results({ env: { METAL_API_KEY: 'revoked' } })
  assert.is(exitCode, 1)
  const [refused] = of('cloud-access')
  assert.match(
    refused?.what ?? '',
    /^Equinix Metal refuses the token for the reservations of the project: .*Invalid authentication token/,
  )
  assert.match(remedyText(refused?.fix ?? ''), 'create a token with read and write rights')
  assert.match(texts('leaked-reservations').join(), 'unknown: leaked-reservations could not be checked')
  assert.match(texts('webhooks-reached').join(), 'ok: ')
})

test('a wrong setting is named, and the exit code is 1', async () => {
  const { PATH = '' } = process.env
  const { code, stderr } = await typed(['doctor', '--cloud-provider=equinixmetal', '-o', 'xml'], { PATH })
  assert.is(code, 1)
  assert.match(stderr, 'output: --output is "xml"; it must be text or json')
})

test('a BGP session that the routers see as down is named with its node, and which are up is not guessed', async () => {
  const [unseen] = (await results()).of('bgp-sessions')
  assert.equal([unseen?.level, unseen?.what], ['manual', 'nothing reports here which BGP sessions are up'])
  const list = await fetch(`${cloud.url}/projects/${project}/bgp/sessions`, { headers: { 'X-Auth-Token': token } })
  const [first] = ((await list.json()) as { bgp_sessions: { id: string }[] }).bgp_sessions
  assert.ok(first)
  cloud.control.bgp.setSession(first.id, { status: 'up,down' })
  assert.match((await results()).texts('bgp-sessions').join(), /^warning: node (one|two): 1 of 2 BGP sessions are down/)
  cloud.control.bgp.setSession(first.id, { status: 'up,up' })
  assert.equal((await results()).texts('bgp-sessions'), ['ok: no BGP session is reported as down'])
})

test('what is broken is named with its reason and the command that fixes it', async () => {
  await product.stop()
  await breakThings()
  const { exitCode, of, texts, summary } = await results()
  assert.is(exitCode, 1)
  assert.match(
    texts('webhook-configurations').join(),
    'error: MutatingWebhookConfiguration zz-eip-admission does not exist',
  )
  const install = `eip-admission install --kubeconfig=${controlPlane.kubeconfig} --webhook-url=${stage.webhookUrl}`
  assert.is(of('webhook-configurations')[0]?.fix, install)
  assert.match(texts('webhooks-reached').join(), /error: MutatingWebhookConfiguration \S+ does not exist/)
  assert.match(
    texts('ca-bundle').join('\n'),
    /error: ValidatingWebhookConfiguration .*: the caBundle has no certificate/,
  )
  assert.equal(texts('shown-not-held'), [
    'error: Service default/thief shows 203.0.113.250 in status.loadBalancer, and no ElasticIP holds it',
  ])
  const [leaked, ...others] = of('leaked-reservations')
  assert.equal(others, [])
  assert.match(leaked?.what ?? '', /has the marks of this cluster, but no ElasticIP and no Service needs it$/)
  assert.match(texts('provider-ids').join('\n'), /error: node bare has no providerID/)
  assert.match(
    texts('provider-ids').join('\n'),
    /error: node other has the providerID "aws:\/\/\/i-1", where equinixmetal/,
  )
  assert.match(texts('uninitialized-nodes').join(), 'error: node bare has the taint')
  assert.match(
    texts('predecessor').join(),
    'error: Deployment kube-system/cpem runs quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1',
  )
  assert.match(texts('leader').join(), /error: no process renews the lease kube-system\/cloud-controller-manager/)
  assert.match(texts('roles').join('\n'), /error: ClusterRole eip-admission lacks rights: .*patch services/)
  assert.match(texts('settings-without-effect').join(), 'ok')
  assert.equal(texts('doubled-addresses'), [
    `error: address ${address} is held by 2 ElasticIPs: default.web, doubled.web`,
  ])
  assert.ok((summary['errors'] ?? 0) >= 9)
})

test('the report for people has the same, with reason and command, and shows nothing that steers a terminal', async () => {
  await stage.run('annotate', 'service', 'thief', 'metal.equinix.com/eip-metro=sv')
  const { stdout, code } = await doctor({ env: { METAL_METRO_NAM: 'da' }, flags: ['--allow-untagged-cloud'] })
  assert.is(code, 1)
  assert.match(
    stdout,
    /ERROR {4}node bare has no providerID \[provider-ids\]\n +why: .*\n +fix: kubectl --kubeconfig=\S+ describe node bare/,
  )
  assert.match(stdout, /warning {2}the variable METAL_METRO_NAM has no effect.*did you mean METAL_METRO_NAME\?/)
  assert.match(stdout, 'warning  --allow-untagged-cloud has no effect')
  assert.match(stdout, /\n\d+ errors, \d+ warnings, \d+ ok, \d+ to check manually\. Nothing was changed\.\n$/)
  assert.not.match(stdout.replaceAll('\n', ''), /\p{C}/u)
})

/** Deletes a reservation in the console of the cloud. */
async function deleteReservation(isMeant: (one: Reservation) => boolean): Promise<void> {
  const { id } = stage.reserved().find(isMeant) ?? {}
  const { status } = await fetch(`${cloud.url}/ips/${id}`, { method: 'DELETE', headers: { 'X-Auth-Token': token } })
  assert.is(status, 204)
}

test('each remedy, typed as printed and followed in its words, ends what it is for', async () => {
  const all = async () => (await results({ isBusy: true })).results
  await follow({ results: all, type: await shellOf(controlPlane) }, [
    remedyOf('leader', {
      found: [/no process renews the lease/],
      words: /start `serve`/,
      // It adds the caBundle.
      act: () => stage.start({ env: { ...settings, EIP_SWEEP_INTERVAL: '1s' } }),
    }),
    remedyOf('webhook-configurations', { found: [/zz-eip-admission does not exist/] }),
    remedyOf('webhooks-reached', { found: [/zz-eip-admission does not exist/] }),
    remedyOf('ca-bundle', { found: [/no certificate/] }),
    remedyOf('elastic-ip-definition', { found: [/lacks spec.allowedNamespaces/] }),
    remedyOf('provider-ids', {
      found: [/bare has no providerID/, /other has the providerID "aws/],
      words: /node must have the name of its machine|start the kubelet with --cloud-provider=external/,
      act: () => startNode('other'),
    }),
    remedyOf('uninitialized-nodes', {
      found: [/node bare/, /node twin/],
      words: /Events say why/,
      act: () => device('bare'),
    }),
    remedyOf('shared-machines', { found: [/nodes one, twin/] }),
    remedyOf('doubled-addresses', { found: [/default.web, doubled.web/] }),
    remedyOf('shown-not-held', { found: [/thief/], words: /if `serve` runs, remove the address/ }),
    remedyOf('leaked-reservations', {
      found: [/has the marks of this cluster/],
      words: /^delete it at Equinix Metal if nothing uses it/,
      act: () => deleteReservation(({ tags }) => tags.includes(goneTag)),
    }),
    remedyOf('orphaned-records', { found: [/default.lost/], words: /the sweep gives its Service a new address/ }),
    remedyOf('predecessor', { found: [/kube-system\/cpem/] }),
    remedyOf('roles', { found: [/patch services/] }),
  ])
  // The report keeps the findings of the last hour.
  await eventually('nothing else is left', async (observe) => {
    const left = (await all()).filter((one) => isWrong(one) && one.check !== 'recent-errors')
    return observe(left.map(({ check, what }) => `${check}: ${what}`)).length === 0 || undefined
  })
})

async function breakThings(): Promise<void> {
  await stage.run('delete', 'mutatingwebhookconfiguration', 'zz-eip-admission')
  const noBundle = JSON.stringify([{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }])
  await stage.run('patch', 'validatingwebhookconfiguration', 'zz-eip-admission', '--type=json', '-p', noBundle)
  await stage.create(loadBalancer('thief'))
  const shown = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: '203.0.113.250' }] } } })
  await stage.run('patch', 'service', 'thief', '--subresource=status', '--type=merge', '-p', shown)
  const uid = await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')
  await stage.order([dialectOf('equinix-metal').usage, `cluster=${uid}`, goneTag])
  await register('bare')
  const one = await stage.client.get(nodes, { name: 'one' })
  await register('twin', { providerID: one?.spec.providerID ?? '' })
  await deleteReservation((reservation) => reservation.address === lost)
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/allowedNamespaces'
  const older = JSON.stringify([{ op: 'remove', path }])
  await stage.run('patch', 'crd', 'elasticips.eip-admission.dev', '--type=json', '-p', older)
  await register('other', { cloudProvider: 'internal', providerID: 'aws:///i-1' })
  await stage.kubectl(['create', '-f', '-'], predecessor)
  await stage.run('create', 'namespace', 'doubled')
  await stage.create(loadBalancer('web', { namespace: 'doubled' }))
  await stage.kubectl(['create', '-f', '-'], doubledRecord)
  await stage.run(
    'patch',
    'elasticip',
    'doubled.web',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status: { phase: 'Bound', address } }),
  )
  const fewer = JSON.stringify([{ op: 'remove', path: '/rules/0' }])
  await stage.run('patch', 'clusterrole', 'eip-admission', '--type=json', '-p', fewer)
}

const doubledRecord = {
  apiVersion: 'eip-admission.dev/v1alpha1',
  kind: 'ElasticIP',
  metadata: { name: 'doubled.web' },
  spec: { claimRef: { namespace: 'doubled', name: 'web' }, location: 'da', reclaimPolicy: 'Delete' },
}

const labels = { app: 'cpem' }
const image = 'quay.io/equinix-oss/cloud-provider-equinix-metal:v3.8.1'
const predecessor = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'cpem', namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'cpem', image }] } },
  },
}

test.after(async () => {
  await apiServer.close()
  await stage.close()
})

test.run()
