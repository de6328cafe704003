import fastify from 'fastify'
import supertest from 'supertest'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { currentRequestId } from '../../lib/request-id.ts'
import { type AdmissionOptions, admission, deadlineMs, findExcess } from '../../webhooks/admission.ts'
import { type Decision, allow, deny, patch, type Webhook } from '../../webhooks/webhook.ts'
import { makeService } from '../builders.ts'
import { silentLog } from '../fakes/log.ts'

async function serverOf(decide: () => Decision, paths: Partial<AdmissionOptions> = {}) {
  const app = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
  const webhook: Webhook = {
    name: 'w.example.com',
    path: '/w',
    kind: 'mutating',
    operations: ['CREATE'],
    resource: 'services',
    decide,
  }
  const pathSecrets = () => ['secret', 'newer-secret']
  await app.register(admission, { webhooks: [webhook], pathSecrets, log: silentLog, ...paths })
  await app.ready()
  return supertest(app.server)
}

function review(request: object = {}) {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u-1', operation: 'CREATE', object: makeService(), oldObject: null, dryRun: false, ...request },
  }
}

const answers: { name: string; decision: Decision; response: object }[] = [
  { name: 'allow', decision: allow(['careful']), response: { uid: 'u-1', allowed: true, warnings: ['careful'] } },
  {
    name: 'a denial of an invalid object is 400',
    decision: deny('invalid', 'no such metro'),
    response: { uid: 'u-1', allowed: false, status: { code: 400, reason: 'BadRequest', message: 'no such metro' } },
  },
  {
    name: 'any other denial is 403',
    decision: deny('forbidden', 'quota reached'),
    response: { uid: 'u-1', allowed: false, status: { code: 403, reason: 'Forbidden', message: 'quota reached' } },
  },
  {
    name: 'a patch is sent in base64',
    decision: patch([{ op: 'remove', path: '/spec/loadBalancerIP' }]),
    response: {
      uid: 'u-1',
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from('[{"op":"remove","path":"/spec/loadBalancerIP"}]').toString('base64'),
      warnings: [],
    },
  },
  {
    name: 'an empty patch is an allow',
    decision: patch([]),
    response: { uid: 'u-1', allowed: true, warnings: [] },
  },
]

for (const { name, decision, response } of answers) {
  test(name, async () => {
    const { body } = await (await serverOf(() => decision)).post('/secret/w?timeout=10s').send(review()).expect(200)
    assert.equal(body, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
  })
}

for (const [username, text] of [
  ['alice', 'no such metro (request 1b2c3d4e)'],
  ['system:node:n1', 'no such metro (request 1b2c3d4e)'],
  ['system:serviceaccount:argocd:controller', 'no such metro'],
] as const)
  test(`${username} is denied with the text "${text}"`, async () => {
    const app = await serverOf(() => deny('invalid', 'no such metro'))
    const sent = review({ uid: '1b2c3d4e-5f60-4711-8aaa-000000000000', userInfo: { username } })
    const { body } = await app.post('/secret/w').send(sent).expect(200)
    assert.is((body as { response: { status: { message: string } } }).response.status.message, text)
  })

test('the work of a webhook runs for the request of the review', async () => {
  const seen: unknown[] = []
  const app = await serverOf(() => {
    seen.push(currentRequestId())
    return allow()
  })
  await app.post('/secret/w').send(review()).expect(200)
  assert.equal([...seen, currentRequestId()], ['u-1', undefined])
})

test('a webhook without a decision answers 500, and the answer does not contain the error', async () => {
  const app = await serverOf(() => {
    throw new Error('token abc refused')
  })
  const { text } = await app.post('/secret/w').send(review()).expect(500)
  assert.not.match(text, 'abc')
})

const malformed = [
  { name: 'a body that is not JSON', body: 'hello', type: 'application/json', status: 400 },
  { name: 'another content type', body: '{}', type: 'text/plain', status: 415 },
  { name: 'an empty object', body: {}, status: 400 },
  { name: 'another version', body: { ...review(), apiVersion: 'admission.k8s.io/v1beta1' }, status: 400 },
  { name: 'a uid that is a number', body: review({ uid: 5 }), status: 400 },
  { name: 'an unknown operation', body: review({ operation: 'BUY' }), status: 400 },
  { name: 'an object without metadata', body: review({ object: { kind: 'Service' } }), status: 400 },
  { name: 'an object that is a list', body: review({ object: [] }), status: 400 },
  { name: 'a namespace that leads elsewhere', body: review({ namespace: '../kube-system' }), status: 400 },
  {
    name: 'an object whose namespace leads elsewhere',
    body: review({ object: { kind: 'Service', metadata: { namespace: '..' } } }),
    status: 400,
  },
  { name: 'dryRun as a word', body: review({ dryRun: 'true' }), status: 400 },
]

const excessive: [name: string, text: string, excess: string | undefined][] = [
  ['brackets within brackets', '['.repeat(101), 'nests more than 100 levels'],
  ['objects within objects', '{"a":'.repeat(101), 'nests more than 100 levels'],
  ['a hundred levels', '['.repeat(100) + ']'.repeat(100), undefined],
  ['many empty lists', `[${'[],'.repeat(200_000)}[]]`, 'has more than 200000 objects and lists'],
  ['brackets in a text', JSON.stringify({ a: '['.repeat(300_000) }), undefined],
  ['brackets behind an escaped quote', JSON.stringify({ a: `"\\"${'{'.repeat(300)}` }), undefined],
  ['brackets behind a text that ends in a backslash', `["\\\\"${',['.repeat(101)}`, 'nests more than 100 levels'],
  ['a text without an end', `["${'['.repeat(300)}`, undefined],
]

for (const [name, text, excess] of excessive)
  test(`${name}: ${excess ?? 'no excess'}`, () => assert.is(findExcess(text), excess))

test('a body of nested brackets gets 400 with the reason, and is not parsed', async () => {
  const app = await serverOf(() => allow())
  const sent = app.post('/secret/w').set('content-type', 'application/json').send('['.repeat(500_000))
  const { text } = await sent.expect(400)
  assert.match(text, 'the body is not a review: it nests more than 100 levels')
})

for (const { name, body, type = 'application/json', status } of malformed) {
  test(`a review with ${name} gets ${status}`, async () => {
    const app = await serverOf(() => {
      throw new Error('the webhook was called')
    })
    await app.post('/secret/w').set('content-type', type).send(body).expect(status)
  })
}

test('unknown paths and methods get 404', async () => {
  const app = await serverOf(() => allow())
  await app.post('/secret/other').send(review()).expect(404)
  await app.get('/secret/w').expect(404)
})

test('while the path changes both are accepted', async () => {
  const app = await serverOf(() => allow())
  for (const path of ['/secret/w', '/newer-secret/w']) await app.post(path).send(review()).expect(200)
})

test('a path that became known a moment ago is read before its caller is refused', async () => {
  let reads = 0
  const known = ['secret']
  const readPathSecrets = async () => {
    reads += 1
    if (!known.includes('changed')) known.push('changed')
  }
  const app = await serverOf(() => allow(), { pathSecrets: () => known, readPathSecrets })
  await app.post('/secret/w').send(review()).expect(200)
  assert.is(reads, 0)
  for (let calls = 0; calls < 2; calls += 1) await app.post('/changed/w').send(review()).expect(200)
  assert.is(reads, 1)
  await app.post('/wrong/w').send(review()).expect(404)
  assert.is(reads, 2)
})

test('a caller without the secret gets 404 before its body is read', async () => {
  let decisions = 0
  const app = await serverOf(() => {
    decisions += 1
    return allow()
  })
  for (const path of ['/w', '/wrong/w', '/secre/w', '/secret2/w', '//w']) {
    await app.post(path).send('no review').expect(404)
    await app.post(path).send(review()).expect(404)
  }
  assert.is(decisions, 0)
})

for (const [timeout, ms] of [
  ['10s', 9000],
  ['500ms', 450],
  ['1m', 27_000],
  ['-5s', 9000],
  ['1e9s', 9000],
  [undefined, 9000],
] as const) {
  test(`we use ${ms} ms of a timeout of ${timeout}`, () => assert.is(deadlineMs(timeout), ms))
}

test.run()
