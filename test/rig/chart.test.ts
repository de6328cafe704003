// The chart on a real API server with real controllers: installed, upgraded, rolled back and uninstalled by helm.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ValueTree } from '../../manifests/choices.ts'
import type { Service } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations, services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { chartFolder } from '../../sandbox/run-helm.ts'
import { dialectOf, reservationsIn } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { untilReviewed } from '../whole/reviewed.ts'
import { type ChartStage, withChart } from './chart-stage.ts'

/** The chart of an older version, whose CRD of ElasticIP had one column less. */
function olderChart(dir: string): string {
  const folder = join(dir, 'older-chart')
  cpSync(chartFolder, folder, { recursive: true })
  const change = (file: string, from: RegExp, to: string) => {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    assert.match(text, from, `${file} has nothing to change`)
    writeFileSync(path, text.replace(from, to))
  }
  change('Chart.yaml', /^version: .*$/m, 'version: 0.0.1')
  change('templates/elastic-ip-crd.yaml', / +- name: Message\n(?: {6,}\w.*\n)+/, '')
  return folder
}

const service = (name: string) => loadBalancer(name, { namespace: 'default' }) as Service

const wait = ['--wait', '--timeout=240s']
const failing = { webhooks: { failurePolicy: 'Fail' } }
const configuration = { name: 'zz-eip-admission' }

async function webhookPath({ client }: ChartStage): Promise<string | undefined> {
  const stored = await client.get(mutatingWebhookConfigurations, configuration)
  return stored?.webhooks?.[0]?.clientConfig.service?.path
}

async function columns({ run }: ChartStage): Promise<string> {
  return run(['get', 'crd', 'elasticips.eip-admission.dev', '-o', 'jsonpath={..additionalPrinterColumns[*].name}'])
}

/** Waits until the Service has this many endpoints, which the API server calls. */
async function endpoints({ run }: ChartStage, count: number): Promise<void> {
  const slices = ['get', 'endpointslices', '-n', 'eip-admission', '-l', 'kubernetes.io/service-name=eip-admission']
  await eventually(`the Service has ${count} endpoints`, async () => {
    const ready = await run([...slices, '-o', 'jsonpath={.items[*].endpoints[*].conditions.ready}'])
    return (ready.match(/true/g)?.length ?? 0) >= count || undefined
  })
}

async function install(stage: ChartStage): Promise<void> {
  await stage.helm(['install', 'eip-admission', olderChart(stage.dir), ...wait], stage.values)
  await endpoints(stage, 2)
  await untilReviewed(stage.client)
  const created = await stage.client.create(services, service('web'))
  assert.match(created.spec.loadBalancerIP ?? '', /^\d+\./, 'the API server reached the webhook by its Service')
}

/** The values with other settings, which need new pods. */
function changed(values: ValueTree): ValueTree {
  return { ...values, settings: { ...(values['settings'] as ValueTree), 'max-addresses': 50 } }
}

async function upgrade(stage: ChartStage): Promise<void> {
  assert.not.match(await columns(stage), /Message/)
  const path = await webhookPath(stage)
  const { client, helm, underLoad, values } = stage
  const { passed, failed } = await underLoad(async () => {
    await helm(['upgrade', 'eip-admission', chartFolder, ...wait], { ...changed(values), ...failing, replicas: 3 })
  })
  assert.equal(failed, [])
  assert.ok(passed > 30, `${passed} reviews passed`)
  assert.match(await columns(stage), /Message/, 'the definition is upgraded with the chart')
  assert.is(await webhookPath(stage), path, 'the secret path stays')
  assert.is((await client.list(elasticIPs)).items.length, 1)
}

async function rollBack(stage: ChartStage): Promise<void> {
  const { passed, failed } = await stage.underLoad(async () => {
    await stage.helm(['rollback', 'eip-admission', '1', ...wait])
  })
  assert.equal(failed, [])
  assert.ok(passed > 30, `${passed} reviews passed`)
  const pods = await stage.run([
    'get',
    'pods',
    '-n',
    'eip-admission',
    '-l',
    'app.kubernetes.io/name=eip-admission',
    '-o',
    'name',
  ])
  assert.ok(pods.split('\n').filter(Boolean).length >= 2)
}

async function uninstall(stage: ChartStage): Promise<void> {
  const { client, cloud, helm, run } = stage
  const at = { namespace: 'default', name: 'web' }
  assert.ok((await client.get(services, at))?.metadata.finalizers?.length, 'there is a finalizer to remove')
  await helm(['uninstall', 'eip-admission', ...wait])
  assert.is(await client.get(mutatingWebhookConfigurations, configuration), undefined)
  assert.equal((await client.get(services, at))?.metadata.finalizers ?? [], [])
  await eventually('nothing of the chart is left', async (observe) => observe(await leftOf(stage)) === '' || undefined)
  assert.equal(
    (await client.list(elasticIPs)).items.map(({ metadata }) => metadata.name),
    ['default.web'],
  )
  await run(['delete', 'service', 'web', '--timeout=120s'])
  assert.is(await client.get(services, at), undefined)
  assert.is(reserved(cloud), 1)
  await client.create(services, service('other'))
  await run(['run', 'job', '--image=none', '--restart=Never', '--dry-run=server'])
}

/** The objects that are left of the chart. The process made some Secrets, and the user made one. */
async function leftOf({ run }: ChartStage): Promise<string> {
  const names = await run(['get', 'all,clusterrole,clusterrolebinding,serviceaccount,secret', '-A', '-o', 'name'])
  return names
    .split('\n')
    .filter((name) => /eip-admission(?!-cloud|-ca|-peers)/.test(name))
    .join(' ')
}

function reserved(cloud: ChartStage['cloud']): number {
  return reservationsIn('cherry-servers', cloud.control).length
}

/** Installs again: the record of the Service that was deleted meanwhile is found, and its address released. */
async function reinstall(stage: ChartStage): Promise<void> {
  const { client, cloud, helm, values } = stage
  await helm(['install', 'eip-admission', chartFolder, ...wait], values)
  await eventually('other has an address', async () => {
    const stored = await client.get(services, { namespace: 'default', name: 'other' })
    return stored?.spec.loadBalancerIP
  })
  // The cloud may need some time after that.
  await eventually('the address of web is given back', () => reserved(cloud) === 1 || undefined)
}

/** A node without a machine is an error of `doctor`, and an error of `doctor` fails the test of the chart. */
async function testChart({ cloud, helm, run }: ChartStage): Promise<void> {
  const tested = () => helm(['test', 'eip-admission', '--timeout=240s']).catch((error: Error) => error.message)
  assert.match(await tested(), 'pod eip-admission-test failed')
  const { id } = cloud.control.devices.add({ hostname: 'node-a' }) as { id: unknown }
  const providerID = `${dialectOf('cherry-servers').scheme}${String(id)}`
  await run(['patch', 'node', 'node-a', '-p', JSON.stringify({ spec: { providerID } })])
  await eventually('it succeeds', async (observe) => /Phase: +Succeeded/.test(observe(await tested())) || undefined)
}

test('helm installs, upgrades, rolls back and uninstalls; nothing blocks, and no address is lost', async () => {
  await withChart(async (stage) => {
    await install(stage)
    await upgrade(stage)
    await rollBack(stage)
    // After the uninstall its process must lack every right.
    assert.not.match(stage.logText(), /TypeError|ReferenceError|User \\?"[^"]*" cannot/)
    await uninstall(stage)
    await reinstall(stage)
    await testChart(stage)
  })
})

test.run()
