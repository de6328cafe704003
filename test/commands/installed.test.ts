import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { installRefusal } from '../../commands/installed.ts'
import { readInstallSettings } from '../../commands/settings/commands.ts'
import type { WebhookConfiguration } from '../../kube/objects.ts'

const byUrl = { url: 'https://192.0.2.10:10260/the-secret-path/mutate' }
const byService = { service: { namespace: 'eip-admission', name: 'eip-admission', path: '/the-secret-path/mutate' } }
const annotations = { 'meta.helm.sh/release-name': 'eip', 'meta.helm.sh/release-namespace': 'infra' }

function configuration(clientConfig: object, metadata: object = {}): WebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'zz-eip-admission', ...metadata },
    webhooks: [{ name: 'reserve.eip-admission.dev', clientConfig }],
  }
}

/** Why `install` with these flags refuses where the cluster has this configuration, and this owner of the rights. */
function refusal(
  mutating: WebhookConfiguration | undefined,
  flags: Record<string, string> = {},
  owner?: string,
): string | undefined {
  const installed = { configurations: { mutating, validating: undefined }, owner }
  return installRefusal(installed, readInstallSettings({ flags, env: {} }))
}

test('install without the URL of the first install says what to type, and not the secret path', () => {
  const text = refusal(configuration(byUrl)) ?? ''
  assert.match(text, /^nothing was changed: .* --webhook-url=https:\/\/192.0.2.10:10260\. Without it/)
  assert.match(text, '\n  eip-admission install --webhook-url=https://192.0.2.10:10260\n')
  assert.not.match(text, 'the-secret-path')
  assert.match(refusal(configuration(byUrl), { '--namespace': 'infra' }) ?? '', 'the Service infra/eip-admission')
})

test('install over a release of Helm names the upgrade of the release', () => {
  for (const flags of [{}, { '--webhook-url': 'https://192.0.2.10:10260' }])
    assert.match(
      refusal(configuration(byService, { annotations }), flags) ?? '',
      '\n  helm upgrade eip manifests/chart --namespace infra --reset-then-reuse-values\n',
    )
})

test('install into a second namespace names the first one, and how to reach it', () => {
  const inTwo = { '--namespace': 'two' }
  assert.match(refusal(configuration(byService), inTwo, 'one') ?? '', '\n  eip-admission install --namespace=one\n')
  assert.match(
    refusal(configuration(byUrl), { ...inTwo, '--webhook-url': 'https://192.0.2.11:10260' }, 'one') ?? '',
    '\n  eip-admission install --namespace=one --webhook-url=https://192.0.2.10:10260\n',
  )
  const moved = refusal(configuration(byService), inTwo, 'eip-admission') ?? ''
  assert.match(moved, '\n  eip-admission install\nTo move the installation to two instead')
  assert.is(refusal(configuration(byService), inTwo, 'two'), undefined)
  assert.is(refusal(configuration(byService), { ...inTwo, '--overwrite': 'true' }, 'one'), undefined)
})

test('install continues with a URL, where it is wanted, and where it is the first', () => {
  assert.equal(
    [
      refusal(undefined),
      refusal(configuration(byService)),
      refusal(configuration(byUrl), { '--webhook-url': 'https://192.0.2.11:10260' }),
      refusal(configuration(byUrl), { '--overwrite': 'true' }),
      refusal(configuration(byService, { annotations }), { '--overwrite': 'true' }),
    ],
    [undefined, undefined, undefined, undefined, undefined],
  )
})

test.run()
