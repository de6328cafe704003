import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import type { ConfigMap, WebhookConfiguration } from '../../kube/objects.ts'
import { type Configurations, configurationProblem, probeResult } from '../../server/probe-problem.ts'
import { answerProbe, webhookIdentities } from '../../webhooks/identities.ts'
import { probe } from '../../webhooks/probe.ts'

const kinds = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const
const [here, there] = ['https://192.0.2.10:10260', 'https://192.0.2.11:10260']

type Change = { without?: string; elsewhere?: string; untrusted?: string }

function configurations({ without, elsewhere, untrusted }: Change = {}): Configurations {
  const of = (kind: 'mutating' | 'validating'): WebhookConfiguration => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: kinds[kind],
    metadata: { name: 'zz-eip-admission' },
    webhooks: webhookIdentities
      .filter((one) => one.kind === kind && one.name !== without)
      .map(({ name, path }) => ({
        name,
        clientConfig: {
          url: `${name === elsewhere ? there : here}/secret${path}`,
          caBundle: name === untrusted ? 'other' : 'ours',
        },
      })),
  })
  return { mutating: of('mutating'), validating: of('validating') }
}

const remedy = 'run eip-admission install'
const cases: { name: string; found: Configurations; problem: string | undefined }[] = [
  { name: 'complete configurations have no problem', found: configurations(), problem: undefined },
  {
    name: 'a missing configuration',
    found: { ...configurations(), validating: undefined },
    problem: `ValidatingWebhookConfiguration zz-eip-admission does not exist: ${remedy}`,
  },
  {
    name: 'a missing webhook',
    found: configurations({ without: 'reserve.eip-admission.dev' }),
    problem: `MutatingWebhookConfiguration zz-eip-admission has no webhook reserve.eip-admission.dev: ${remedy}`,
  },
  {
    name: 'a webhook at another place',
    found: configurations({ elsewhere: 'reserve.eip-admission.dev' }),
    problem: `webhook reserve.eip-admission.dev in MutatingWebhookConfiguration zz-eip-admission is called elsewhere than probe.eip-admission.dev: ${remedy}`,
  },
  {
    name: 'a webhook with another trust',
    found: configurations({ untrusted: 'validate.eip-admission.dev' }),
    problem: `webhook validate.eip-admission.dev in ValidatingWebhookConfiguration zz-eip-admission is called elsewhere than probe.eip-admission.dev: ${remedy}`,
  },
]
for (const { name, found, problem } of cases) {
  test(`configurations: ${name}`, () => assert.is(configurationProblem(found, webhookIdentities), problem))
}

const sent: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'eip-admission', name: 'probe', labels: { [answerProbe.label]: 'true' } },
}

const errorOf = (message: string, status = 500) => new KubeError(message, { status, reason: 'InternalError' })
const calling = 'create ConfigMap eip-admission/probe: Internal error occurred: failed calling webhook'

test('a probe with our answer is answered, one without it is missed', async () => {
  const request = { uid: 'u', operation: 'CREATE', object: sent, oldObject: null } as const
  const decision = await probe({ identity: 'replica-1' }).decide(request, AbortSignal.timeout(1000))
  const [operation] = decision.verdict === 'patch' ? decision.patch : []
  const annotations = operation && 'value' in operation ? (operation.value as Record<string, string>) : {}
  assert.equal(probeResult({ ...sent, metadata: { ...sent.metadata, annotations } }), { outcome: 'answered' })
  assert.is(probeResult(sent).outcome, 'missed')
})

test('the reason of a failed call shows no path of the webhook', () => {
  const failed =
    `${calling} "probe.eip-admission.dev": failed to call webhook: ` +
    `Post "https://192.0.2.10:10260/0123456789abcdef/probe?timeout=5s": tls: failed to verify certificate: ` +
    'x509: certificate has expired or is not yet valid (500 InternalError)'
  assert.equal(probeResult(errorOf(failed)), {
    outcome: 'missed',
    reason:
      'the API server does not reach the webhooks: tls: failed to verify certificate: ' +
      'x509: certificate has expired or is not yet valid (500 InternalError)',
  })
})

test('an error that is not about our webhook leaves the question open', () => {
  for (const error of [
    errorOf('create ConfigMap eip-admission/probe: no answer', 0),
    errorOf(`${calling} "other.example.com": failed to call webhook: x`),
  ])
    assert.is(probeResult(error).outcome, 'unknown')
})

test.run()
