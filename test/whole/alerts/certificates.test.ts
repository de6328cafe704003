// Certificates that nobody renews.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import { issueAuthority, issueLeaf } from '../../../certs/authority.ts'
import { toCaBundle } from '../../../certs/bundle.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from '../../../kube/resource.ts'
import { openStage } from '../test-stage.ts'
import { inHours } from './hours.ts'

const stage = await openStage()
const hourMs = 3_600_000

test(
  'an authority that ends in six days',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', ['--webhook-ca-lifetime=144h', '--webhook-cert-lifetime=48h'])
    await pass(25)
    await expect(['EIPAdmissionAuthorityEndsSoon'])
  }),
)

/** Issues a certificate into a folder, as another program does, and has the API server trust it. */
async function mount(lifetimeMs: number): Promise<string> {
  const now = Date.now()
  const authority = await issueAuthority({ commonName: 'other', now, lifetimeMs: 24 * 365 * hourMs })
  const { cert, key } = await issueLeaf({ authority, hosts: ['127.0.0.1'], now, lifetimeMs })
  const folder = join(stage.dir, 'mounted')
  mkdirSync(folder)
  writeFileSync(join(folder, 'tls.crt'), cert)
  writeFileSync(join(folder, 'tls.key'), key)
  const caBundle = toCaBundle(authority.cert)
  for (const resource of [mutatingWebhookConfigurations, validatingWebhookConfigurations]) {
    const stored = await stage.client.get(resource, { name: 'zz-eip-admission' })
    const webhooks = stored?.webhooks?.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle } }))
    await stage.client.patch(resource, { name: 'zz-eip-admission', patch: { merge: { webhooks } } })
  }
  return folder
}

test(
  'a mounted certificate that ends in five hours',
  inHours(stage, async ({ start, pass, expect }) => {
    await start('a', [`--webhook-cert-dir=${await mount(5 * hourMs)}`])
    await pass(25)
    await expect(['EIPAdmissionCertificateEndsSoon'])
  }),
)

test.after(() => stage.close())

test.run()
