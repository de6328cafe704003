// The chart with the real cert-manager: it issues the certificate, its cainjector publishes the authority, and both
// renew while reviews arrive.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations, secrets, services } from '../../kube/resource.ts'
import { certManagerPrograms } from '../../sandbox/cert-manager/build.ts'
import { type Child, startChild } from '../../sandbox/child.ts'
import { chartFolder } from '../../sandbox/run-helm.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { untilReviewed } from '../whole/reviewed.ts'
import { type ChartStage, withChart } from './chart-stage.ts'

const namespace = 'eip-admission'
const leaf = { namespace, name: 'eip-admission-webhook-tls' }

/** Installs cert-manager's CRDs. Until a CRD is established, the API server cuts off calls about its objects. */
async function addDefinitions({ apply, run }: ChartStage): Promise<void> {
  const { crds } = await certManagerPrograms()
  for (const file of globSync('*.yaml', { cwd: crds })) await apply(readFileSync(join(crds, file), 'utf8'))
  await run(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=240s'])
}

async function startCertManager(stage: ChartStage) {
  await addDefinitions(stage)
  const { controlPlane } = stage
  const { certManager } = await certManagerPrograms()
  const logFile = join(controlPlane.dir, 'logs', 'cert-manager.log')
  return startChild([certManager, `--cluster=${controlPlane.kubeconfig}`], { logFile })
}

async function certificate({ client }: ChartStage): Promise<string | undefined> {
  return (await client.get(secrets, leaf))?.data?.['tls.crt']
}

async function trusted({ client }: ChartStage): Promise<string | undefined> {
  const stored = await client.get(mutatingWebhookConfigurations, { name: 'zz-eip-admission' })
  return stored?.webhooks?.[0]?.clientConfig.caBundle
}

async function isPublished(stage: ChartStage): Promise<void> {
  await eventually('the authority is published', () => trusted(stage))
  await untilReviewed(stage.client)
}

/** How often each pod has read a certificate. */
function reads({ logText }: ChartStage): number {
  return logText().match(/serving certificate read/g)?.length ?? 0
}

async function install(stage: ChartStage): Promise<void> {
  const { client, helm, values } = stage
  const more = { certManager: { enabled: true }, webhooks: { failurePolicy: 'Fail' } }
  await helm(['install', 'eip-admission', chartFolder, '--wait', '--timeout=240s'], { ...values, ...more })
  await isPublished(stage)
  const created = await client.create(services, loadBalancer('web', { namespace: 'default' }) as Service)
  assert.match(created.spec.loadBalancerIP ?? '', /^\d+\./)
}

/** Deletes the Secret, which is issued again as at the end of its validity. */
async function renew(stage: ChartStage): Promise<void> {
  const { client, underLoad } = stage
  const { passed, failed } = await underLoad(async () => {
    for (const round of [1, 2, 3]) {
      const [before, readBefore] = [await certificate(stage), reads(stage)]
      await client.remove(secrets, leaf)
      await eventually(`certificate ${round} is issued`, async () => {
        const now = await certificate(stage)
        return (now !== undefined && now !== before) || undefined
      })
      await eventually(`both pods have read certificate ${round}`, () => reads(stage) >= readBefore + 2 || undefined)
    }
  })
  assert.equal(failed, [])
  assert.ok(passed > 0, 'reviews passed meanwhile')
}

/** cert-manager writes certificate and key together; a person who copies files may not. */
async function breakAndRepair(stage: ChartStage, certManager: Child): Promise<void> {
  const { client, logText, underLoad } = stage
  const good = (await client.get(secrets, leaf))?.data
  const { failed } = await underLoad(async () => {
    // It would repair the Secret before any pod has read it.
    certManager.signal('SIGSTOP')
    const merge = { data: { 'tls.crt': Buffer.from('-----BEGIN CERT').toString('base64') } }
    await client.patch(secrets, { ...leaf, patch: { merge } })
    await eventually(
      'both pods report it',
      () => (logText().match(/serving certificate is kept/g)?.length ?? 0) >= 2 || undefined,
    )
    certManager.signal('SIGCONT')
    await eventually('it is issued again', async () => {
      const now = await certificate(stage)
      return (now !== merge.data['tls.crt'] && now !== good?.['tls.crt']) || undefined
    })
  })
  assert.equal(failed, [])
}

test('cert-manager issues and renews the certificate; no review fails, and a broken one changes nothing', async () => {
  await withChart(async (stage) => {
    const certManager = await startCertManager(stage)
    try {
      await install(stage)
      await renew(stage)
      await breakAndRepair(stage, certManager)
      assert.not.match(stage.logText(), /PRIVATE KEY|TypeError|caBundle written/)
      await stage.helm(['uninstall', 'eip-admission', '--wait', '--timeout=240s'])
    } finally {
      await certManager.stop('SIGKILL')
    }
  })
})

test('before cert-manager runs, the controllers work and the pods are not ready; nothing waits for them', async () => {
  await withChart(async (stage) => {
    const { client, helm, values } = stage
    await addDefinitions(stage)
    await helm(['install', 'eip-admission', chartFolder], { ...values, certManager: { enabled: true } })
    await client.create(services, loadBalancer('early', { namespace: 'default' }) as Service)
    await eventually('the controller completes the Service', async () => {
      return (await client.get(services, { namespace: 'default', name: 'early' }))?.spec.loadBalancerIP
    })
    assert.match(await stage.run(['get', 'deployment', '-n', namespace]), / 0\/2 /)
    const certManager = await startCertManager(stage)
    try {
      await stage.run(['rollout', 'status', 'deployment/eip-admission', '-n', namespace, '--timeout=240s'])
      await isPublished(stage)
      const late = await client.create(services, loadBalancer('late', { namespace: 'default' }) as Service)
      assert.match(late.spec.loadBalancerIP ?? '', /^\d+\./)
    } finally {
      await certManager.stop('SIGKILL')
    }
  })
})

test('cert-manager is turned on, and off again, while pods issue their own certificates: no review fails', async () => {
  await withChart(async (stage) => {
    const { helm, values, underLoad } = stage
    const certManager = await startCertManager(stage)
    const webhooks = { failurePolicy: 'Fail' }
    try {
      await helm(['install', 'eip-admission', chartFolder, '--wait', '--timeout=240s'], { ...values, webhooks })
      await isPublished(stage)
      const { passed, failed } = await underLoad(async () => {
        for (const enabled of [true, false]) {
          const more = { certManager: { enabled }, webhooks }
          await helm(['upgrade', 'eip-admission', chartFolder, '--wait', '--timeout=240s'], { ...values, ...more })
        }
      })
      assert.equal(failed, [])
      assert.ok(passed > 0, 'reviews passed meanwhile')
    } finally {
      await certManager.stop('SIGKILL')
    }
  })
})

test.run()
