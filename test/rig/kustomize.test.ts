// The manifests without Helm on a real API server.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations, secrets, services } from '../../kube/resource.ts'
import { dialectNames } from '../../sandbox/dialect-names.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { untilReviewed } from '../whole/reviewed.ts'
import { type ChartStage, withChart } from './chart-stage.ts'

const manifests = join(import.meta.dirname, '..', '..', 'manifests')
const namespace = 'eip-admission'
const service = (name: string) => loadBalancer(name, { namespace: 'default' }) as Service

/** The API server judges every field, by its own schemas and rules. */
async function judgePlainManifests({ run }: ChartStage): Promise<void> {
  const files = globSync('plain/*.yaml', { cwd: manifests })
  assert.is(files.length, dialectNames.length)
  for (const file of files)
    await run(['apply', '--dry-run=server', '--validate=strict', '--server-side', '-f', join(manifests, file)])
}

async function apply({ run }: ChartStage): Promise<void> {
  await run(['apply', '-k', join(manifests, 'kustomize', 'overlays', 'cherry-servers')])
}

/** The first segment of the webhooks' paths where the API server reads it. */
async function configuredSegment({ client }: ChartStage): Promise<string | undefined> {
  const stored = await client.get(mutatingWebhookConfigurations, { name: 'zz-eip-admission' })
  return stored?.webhooks?.[0]?.clientConfig.service?.path?.split('/')[1]
}

async function segmentIsSecret(stage: ChartStage): Promise<void> {
  await eventually('the secret path is in the configurations', async () => {
    const secret = await stage.client.get(secrets, { namespace, name: 'eip-admission-webhook' })
    const made = Buffer.from(secret?.data?.['path'] ?? '', 'base64').toString()
    return (made.length >= 32 && (await configuredSegment(stage)) === made) || undefined
  })
  await untilReviewed(stage.client)
}

test('kubectl apply -k installs the product, twice; the process makes the secret path', async () => {
  await withChart(async (stage) => {
    const { client, run, settingsFile } = stage
    const config = {
      metadata: { name: 'eip-admission-cloud', namespace },
      stringData: { 'cloud-sa.json': settingsFile },
    }
    await stage.apply({ apiVersion: 'v1', kind: 'Secret', ...config })
    await judgePlainManifests(stage)
    await apply(stage)
    await run(['rollout', 'status', 'deployment/eip-admission', '-n', namespace, '--timeout=240s'])
    await segmentIsSecret(stage)
    const first = await client.create(services, service('first'))
    assert.match(first.spec.loadBalancerIP ?? '', /^\d+\./)
    await apply(stage)
    await segmentIsSecret(stage)
    const second = await client.create(services, service('second'))
    assert.match(second.spec.loadBalancerIP ?? '', /^\d+\./)
    assert.not.match(stage.logText(), /TypeError|ReferenceError|User \\?"[^"]*" cannot/)
  })
})

test.run()
