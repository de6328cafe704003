// The manifests without Helm on a real API server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations, secrets, services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { dialectNames } from '../../sandbox/dialect-names.ts'
import { shell } from '../docs/ground.ts'
import { parsePage, root } from '../docs/pages.ts'
import { typeCommands } from '../docs/type-commands.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { untilReviewed } from '../whole/reviewed.ts'
import { type ChartStage, withChart } from './chart-stage.ts'

const overlay = (name: string) => join(root, 'manifests', 'kustomize', 'overlays', name)
const namespace = 'eip-admission'
const service = (name: string) => loadBalancer(name, { namespace: 'default' }) as Service

/** Has the API server validate every field by its own schemas and rules. */
async function judgeOverlays({ run }: ChartStage): Promise<void> {
  for (const name of dialectNames)
    await run(['apply', '--dry-run=server', '--validate=strict', '--server-side', '-k', overlay(name)])
}

async function apply({ run }: ChartStage): Promise<void> {
  await run(['apply', '-k', overlay('cherry-servers')])
}

/** The first segment of the webhooks' paths, as the API server reads it. */
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

/** Types what the guide says. The records stay, and nothing holds a Service. */
async function uninstall({ client, cloud, controlPlane: { kubeconfig: file, kubectl }, dir, run }: ChartStage) {
  const page = 'docs/guides/install.md'
  const { blocks } = parsePage(page, readFileSync(join(root, page), 'utf8'))
  const [block, ...others] = blocks.filter(({ text }) => text.includes('delete deployment,'))
  assert.equal(others, [])
  const access = { url: cloud.url, project: '', token: '' }
  const reader = await shell({ dir, file, kubectl, access })
  const { code, printed } = await typeCommands({ commands: block?.text ?? '', ...reader, patienceMs: 180_000 })
  assert.is(code, 0, printed)
  const kinds = 'pod,deployment,service,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding'
  assert.is(await run(['get', kinds, '-A', '-l', 'app.kubernetes.io/name=eip-admission', '-o', 'name']), '')
  const records = (await client.list(elasticIPs)).items.map(({ metadata }) => metadata.name)
  assert.equal(records, ['default.first', 'default.second'])
  await run(['delete', 'service', 'first', 'second', '--timeout=120s'])
}

test('kubectl apply -k installs the product, twice; the process makes the secret path; the guide removes it', async () => {
  await withChart(
    async (stage) => {
      const { client, run, settingsFile } = stage
      const config = {
        metadata: { name: 'eip-admission-cloud', namespace },
        stringData: { 'cloud-sa.json': settingsFile },
      }
      await stage.apply({ apiVersion: 'v1', kind: 'Secret', ...config })
      await judgeOverlays(stage)
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
      await uninstall(stage)
    },
    { controllers: ['garbage-collector-controller'] },
  )
})

test.run()
