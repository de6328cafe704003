import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import type { ConfigMap, WebhookConfiguration } from '../../kube/objects.ts'
import { type Configurations, configurationProblem, installCommand, probeResult } from '../../webhooks/probe-problem.ts'
import { answerProbe, webhookIdentities } from '../../webhooks/identities.ts'
import { probe } from '../../webhooks/probe.ts'
import { toCaBundle } from '../../certs/bundle.ts'
import { selfSigned } from '../kube/self-signed.ts'

const kinds = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const
const [here, there] = ['https://192.0.2.10:10260', 'https://192.0.2.11:10260']

const [ours, other] = [selfSigned('192.0.2.10').cert, selfSigned('192.0.2.10').cert]

type Change = { without?: string; elsewhere?: string; untrusted?: string; trustsMore?: string }

function configurations({ without, elsewhere, untrusted, trustsMore }: Change = {}): Configurations {
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
          caBundle: toCaBundle(name === untrusted ? other : name === trustsMore ? ours + other : ours),
        },
      })),
  })
  return { mutating: of('mutating'), validating: of('validating') }
}

const cases: { name: string; found: Configurations; problem: string | undefined }[] = [
  { name: 'complete configurations have no problem', found: configurations(), problem: undefined },
  {
    name: 'a missing configuration',
    found: { ...configurations(), validating: undefined },
    problem: `ValidatingWebhookConfiguration zz-eip-admission does not exist`,
  },
  {
    name: 'a missing webhook',
    found: configurations({ without: 'reserve.eip-admission.dev' }),
    problem: `MutatingWebhookConfiguration zz-eip-admission has no webhook reserve.eip-admission.dev`,
  },
  {
    name: 'a webhook at another place',
    found: configurations({ elsewhere: 'reserve.eip-admission.dev' }),
    problem: `webhook reserve.eip-admission.dev in MutatingWebhookConfiguration zz-eip-admission is called elsewhere than probe.eip-admission.dev`,
  },
  {
    name: 'a webhook with another trust',
    found: configurations({ untrusted: 'validate.eip-admission.dev' }),
    problem:
      'webhook validate.eip-admission.dev in ValidatingWebhookConfiguration zz-eip-admission has a caBundle without any ' +
      'authority of probe.eip-admission.dev',
  },
  {
    name: 'a caBundle that holds one authority more',
    found: configurations({ trustsMore: 'validate.eip-admission.dev' }),
    problem: undefined,
  },
]
for (const { name, found, problem } of cases) {
  test(`configurations: ${name}`, () => assert.is(configurationProblem(found, webhookIdentities), problem))
}

test('the remedy keeps an installation outside the cluster, and has no URL for one inside', () => {
  assert.is(
    installCommand(configurations({ without: 'reserve.eip-admission.dev' })),
    `eip-admission install --webhook-url=${here}`,
  )
  assert.is(installCommand({ mutating: undefined, validating: undefined }), 'eip-admission install')
})

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
  assert.equal(probeResult({ ...sent, metadata: { ...sent.metadata, annotations } }, configurations()), {
    outcome: 'answered',
  })
  assert.equal(probeResult(sent, configurations()), {
    outcome: 'missed',
    reason: 'the API server does not call probe.eip-admission.dev',
    remedy: `eip-admission install --webhook-url=${here}`,
  })
})

test('the reason of a failed call shows no path of the webhook', () => {
  const failed =
    `${calling} "probe.eip-admission.dev": failed to call webhook: ` +
    `Post "https://192.0.2.10:10260/0123456789abcdef/probe?timeout=5s": tls: failed to verify certificate: ` +
    'x509: certificate has expired or is not yet valid (500 InternalError)'
  assert.equal(probeResult(errorOf(failed), configurations()), {
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
    assert.is(probeResult(error, configurations()).outcome, 'unknown')
})

test.run()
