import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import type { ConfigMap, WebhookConfiguration } from '../../kube/objects.ts'
import {
  type Configurations,
  configurationProblem,
  missText,
  probeResult,
  probe,
} from '../../webhooks/webhook-probe.ts'
import { answerProbe, webhookIdentities } from '../../webhooks/webhook.ts'
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
    problem: `webhook reserve.eip-admission.dev in MutatingWebhookConfiguration zz-eip-admission has a different URL or Service than probe.eip-admission.dev`,
  },
  {
    name: 'a webhook with another trust',
    found: configurations({ untrusted: 'validate.eip-admission.dev' }),
    problem:
      'webhook validate.eip-admission.dev in ValidatingWebhookConfiguration zz-eip-admission has a caBundle without any ' +
      'CA of probe.eip-admission.dev',
  },
  {
    name: 'a caBundle that holds one CA more',
    found: configurations({ trustsMore: 'validate.eip-admission.dev' }),
    problem: undefined,
  },
]
for (const { name, found, problem } of cases) {
  test(`configurations: ${name}`, () => assert.is(configurationProblem(found, webhookIdentities), problem))
}

test('no command is advised that would install elsewhere or in another way: doctor sees how it was installed', () => {
  assert.is(
    missText({ reason: 'gone' }),
    'gone; run `eip-admission doctor` with the settings and the namespace of serve, which says how to fix it',
  )
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
  assert.equal(probeResult({ ...sent, metadata: { ...sent.metadata, annotations } }), { outcome: 'answered' })
  assert.equal(probeResult(sent), {
    outcome: 'missed',
    reason: 'the API server does not call probe.eip-admission.dev',
  })
})

test('the reason of a failed call does not reveal the path of the webhook', () => {
  const failed =
    `${calling} "probe.eip-admission.dev": failed to call webhook: ` +
    `Post "https://192.0.2.10:10260/0123456789abcdef/probe?timeout=5s": tls: failed to verify certificate: ` +
    'x509: certificate has expired or is not yet valid (500 InternalError)'
  assert.equal(probeResult(errorOf(failed)), {
    outcome: 'missed',
    reason:
      'the API server cannot reach the webhooks: tls: failed to verify certificate: ' +
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
