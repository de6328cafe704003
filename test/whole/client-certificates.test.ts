// With a client CA file, only the API server gets an answer; knowing the path is not enough.
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority } from '../../certs/authority.ts'
import type { KeyPair } from '../../certs/cert-source.ts'
import { issueClient } from '../fakes/client-certificate.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const name = 'kube-apiserver'
const newAuthority = (commonName: string) => issueAuthority({ commonName, now: Date.now(), lifetimeMs: 86_400_000 })
const [ours, theirs] = (await Promise.all(['the cluster', 'another'].map(newAuthority))) as [KeyPair, KeyPair]
const worker = issueClient({ authority: ours, name: 'system:node:worker-1' })
const stranger = issueClient({ authority: theirs, name })

const webhookClient = issueClient({ authority: ours, name })
const stage = await openStage({ webhookClient })
const file = `${stage.dir}/clients.crt`
writeFileSync(file, ours.cert)
const product = await stage.startSwept({
  env: { METAL_METRO_NAME: 'da' },
  flags: [`--webhook-client-ca-file=${file}`, `--webhook-client-allowed-names=${name}`],
})
const { calls } = stage.cloud.control
const path = '-o=jsonpath={.webhooks[0].clientConfig.url}'
const url = await stage.run('get', 'mutatingwebhookconfiguration', 'zz-eip-admission', path)

/** The answer to a review that a caller with this certificate sends to the right path. */
function send(client: KeyPair | undefined): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'POST', agent: false, rejectUnauthorized: false, headers }
    const call = request(url, { ...options, ...client }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    call.on('error', reject)
    call.end(review)
  })
}

const object = { ...loadBalancer('stolen'), metadata: { name: 'stolen', namespace: 'default' } }
const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u',
    operation: 'CREATE',
    namespace: 'default',
    name: 'stolen',
    object,
    oldObject: null,
    dryRun: true,
  },
})

const answersUnderNewFile = (client: KeyPair, status: number) =>
  eventually(
    `the file counts: ${status}`,
    async (observe) => observe(await send(client)).status === status || undefined,
  )

test('the API server with its client certificate gets the address in the create', async () => {
  const { spec } = await stage.create(loadBalancer('web'))
  assert.ok(spec.loadBalancerIP)
  assert.is(await stage.settled('web'), spec.loadBalancerIP)
})

for (const { who, client, output } of [
  { who: 'nothing', client: undefined, output: 'no client certificate from a known CA was presented' },
  { who: "another authority's certificate", client: stranger, output: 'the client certificate cannot be used' },
  { who: 'the certificate of a machine of the cluster', client: worker, output: 'system:node:worker-1' },
]) {
  test(`a caller with ${who} gets 403`, async () => {
    calls.clear()
    const { status, text } = await send(client)
    assert.is(status, 403)
    assert.match(text, output)
    assert.equal(calls.all(), [])
  })
}

test('a caller with the right client certificate is answered', async () =>
  assert.is((await send(webhookClient)).status, 200))

test('health and metrics are served without a client certificate', async () => {
  for (const at of ['/healthz', '/readyz', '/metrics']) assert.is((await product.health(at)).status, 200)
})

/** Makes the product trust only the other authority. */
const distrustApiServer = async () => {
  writeFileSync(file, theirs.cert)
  await answersUnderNewFile(stranger, 200)
  assert.is((await send(webhookClient)).status, 403)
}

test('the product reads a changed client CA file', distrustApiServer)

test('an API server with an untrusted certificate still creates Services, and the controller adds their addresses', async () => {
  await distrustApiServer()
  // Each open connection closes with its next answer.
  await eventually('a Service comes without an address', async () => {
    const { spec } = await stage.create({ ...loadBalancer(''), metadata: { generateName: 'unknown-' } })
    return spec.loadBalancerIP === undefined || undefined
  })
  const names = (await stage.run('get', 'services', '-o=jsonpath={.items[*].metadata.name}')).split(' ')
  for (const one of names.filter((each) => each.startsWith('unknown-'))) await stage.settled(one)
  assert.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), 'caller of a webhook refused')
})

test('an API server that is trusted again gets addresses in the create', async () => {
  await distrustApiServer()
  writeFileSync(file, ours.cert + theirs.cert)
  await answersUnderNewFile(webhookClient, 200)
  assert.ok((await stage.create(loadBalancer('again'))).spec.loadBalancerIP)
})

test.after(() => stage.close())

test.run()
