import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority } from '../../../certs/authority.ts'
import type { WebhookConfiguration } from '../../../kube/objects.ts'
import type { Pod } from '../../../kube/workloads.ts'
import { apiServerFlags, apiServerVersion, clock } from '../../../commands/doctor/checks/api-server.ts'
import { caBundle, servingCertificate, webhooksReached } from '../../../commands/doctor/checks/webhooks.ts'
import { judge, lines, now } from './context.ts'
import { remedyText } from '../../../lib/remedy.ts'

const server = { version: 'v1.36.3', major: 1, minor: 36, clockAheadMs: 0 }

test('the version and the clock of the API server', () => {
  const level = (facts: Partial<typeof server>) => [
    judge(apiServerVersion, { server: { ...server, ...facts } })[0]?.level,
    judge(clock, { server: { ...server, ...facts } })[0]?.level,
  ]
  assert.equal(level({}), ['ok', 'ok'])
  assert.equal(level({ minor: 30 }), ['ok', 'ok'])
  assert.equal(level({ minor: 27 }), ['warning', 'ok'])
  assert.equal(level({ major: 2, minor: 0 }), ['ok', 'ok'])
  assert.equal(level({ clockAheadMs: 59_999 }), ['ok', 'ok'])
  assert.equal(level({ clockAheadMs: -60_000 }), ['ok', 'warning'])
  assert.equal(level({ clockAheadMs: 7_200_000 }), ['ok', 'error'])
  assert.match(lines(clock, { server: { ...server, clockAheadMs: -60_000 } })[0] ?? '', 'is 60 s behind the clock of')
})

test('a flag that turns webhooks off is found, and other flags are not', () => {
  const pod = (...command: string[]): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'kube-apiserver-a', namespace: 'kube-system' },
    spec: { containers: [{ command }] },
  })
  const of = (...command: string[]) => lines(apiServerFlags, { apiServerPods: [pod(...command)] })
  assert.match(of('kube-apiserver', '--disable-admission-plugins=ServiceAccount')[0] ?? '', /^ok/)
  assert.match(
    of('kube-apiserver', '--disable-admission-plugins=ServiceAccount,MutatingAdmissionWebhook')[0] ?? '',
    /^error: pod kube-system\/kube-apiserver-a has --disable/,
  )
  assert.match(
    of('kube-apiserver', '--disable-admission-plugins', 'ValidatingAdmissionWebhook')[0] ?? '',
    /^error: pod kube-system\/kube-apiserver-a has --disable/,
  )
  assert.match(lines(apiServerFlags, { apiServerPods: [] })[0] ?? '', /^manual: no API server runs as a pod/)
})

test('the end of an authority in a caBundle', async () => {
  const dayMs = 86_400_000
  const bundle = async (lifetimeMs: number) => {
    const { cert } = await issueAuthority({ commonName: 'test', now: now.getTime(), lifetimeMs })
    return Buffer.from(cert).toString('base64')
  }
  const of = (caBundleText: string | undefined) => {
    const clientConfig = caBundleText === undefined ? {} : { caBundle: caBundleText }
    const mutating: WebhookConfiguration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'm' },
      webhooks: [{ name: 'a', clientConfig }],
    }
    return lines(caBundle, { webhooks: { mutating, validating: undefined } })[0] ?? ''
  }
  assert.match(of(await bundle(8 * dayMs)), /^ok/)
  assert.match(of(await bundle(6 * dayMs)), /^warning: Mut\S+ m: a: the caBundle expires at 2026-02-07/)
  assert.match(of(await bundle(-1000)), /^error: .* expired/)
  assert.match(of(undefined), /^error: .* has no certificate/)
  assert.match(of('bm90IGEgY2VydGlmaWNhdGU='), /^error: .* has no certificate/)
})

test('the certificate of the webhooks, and how a probe ended', () => {
  const ends = (hours: number) =>
    judge(servingCertificate, {
      servingCertificate: { place: 'h:1', endsAt: new Date(now.getTime() + hours * 3.6e6) },
    })[0]?.level
  assert.equal([ends(25), ends(23), ends(-1)], ['ok', 'warning', 'error'])
  assert.is(judge(servingCertificate, { servingCertificate: undefined })[0]?.level, 'manual')
  const webhooks = { mutating: undefined, validating: undefined }
  assert.is(judge(webhooksReached, { probe: { outcome: 'answered' }, webhooks })[0]?.level, 'ok')
  const [missed] = judge(webhooksReached, { probe: { outcome: 'missed', reason: 'x509: unknown authority' }, webhooks })
  assert.equal([missed?.level, missed?.what], ['error', 'x509: unknown authority'])
  assert.match(remedyText(missed?.fix ?? ''), /^kubectl logs/)
})

test('a fact that could not be read is no finding about the cluster', () => {
  assert.equal(lines(clock, {}), ['unknown: clock could not be checked, because server was not read'])
})

test.run()
