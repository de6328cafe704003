// Attackers that can reach the webhook's port, with and without its path.
import { request } from 'node:https'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
const most = 5
let product = await stage.startSwept({
  env: dialect.here,
  flags: [`--max-unbound=${most}`, '--unbound-grace=3s', '--sweep-interval=1s'],
})
const { calls } = stage.cloud.control

const url = new URL(
  await stage.run(
    'get',
    'mutatingwebhookconfiguration',
    'zz-eip-admission',
    '-o',
    'jsonpath={.webhooks[0].clientConfig.url}',
  ),
)

type Answer = number | 'closed'

function send(path: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const options = {
      method: 'POST',
      rejectUnauthorized: false,
      headers: { 'content-type': 'application/json', ...headers },
      timeout: 10_000,
    }
    const call = request(new URL(path, url), options, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    call.on('timeout', () => call.destroy())
    call.on('error', () => resolve('closed'))
    call.end(body)
  })
}

function review(name: string): string {
  const object = { ...loadBalancer(name), metadata: { name, namespace: 'nowhere' } }
  const request = { uid: name, operation: 'CREATE', namespace: 'nowhere', name, object, oldObject: null, dryRun: false }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
}

const isAlive = async () => (await product.health('/readyz')).status === 200

test('a request to an unknown path gets 404, however large its body', async () => {
  calls.clear()
  const large = Buffer.alloc(8 * 2 ** 20, ' ')
  for (const path of ['/', '/mutate-services', `/${'0'.repeat(32)}/mutate-services`, '/metrics', '/../../etc/passwd']) {
    assert.is(await send(path, review('unknown-path')), 404)
    assert.ok([404, 413, 'closed'].includes(await send(path, large)))
  }
  assert.is(calls.count(routes.reserve), 0)
  assert.ok(await isAlive())
})

test('bodies that are no review, and bodies over the limit, are refused', async () => {
  for (const body of ['', '{', 'null', '[]', '{"apiVersion":"v1"}', '\u0000'.repeat(1000), review('x').slice(0, -40)]) {
    assert.is(await send(url.pathname, body), 400)
  }
  assert.ok([413, 'closed'].includes(await send(url.pathname, Buffer.alloc(8 * 2 ** 20, ' '))))
  const strange = JSON.parse(review('strange')) as { request: { object: object } }
  for (const spec of [null, 5, [], { type: 5 }, { type: 'LoadBalancer', ports: 'x', loadBalancerIP: {} }]) {
    strange.request.object = { ...loadBalancer('strange'), metadata: { name: 'strange', annotations: [] }, spec }
    assert.ok([200, 400, 500].includes(Number(await send(url.pathname, JSON.stringify(strange)))))
  }
  assert.ok(await isAlive())
})

test('a flood of reviews for an unknown namespace reserves few addresses, and the sweep releases them', async () => {
  calls.clear()
  const floods = Array.from({ length: 20 }, async (_, flood) => {
    for (let n = 0; n < 10; n += 1) assert.is(await send(url.pathname, review(`flood-${flood}-${n}`)), 200)
  })
  await Promise.all(floods)
  const bought = calls.count(routes.reserve)
  assert.ok(bought <= most + 5, `${bought} addresses were bought`)

  const real = await stage.create(loadBalancer('real'))
  assert.is(real.metadata.name, 'real')
  await stage.settled('real')
  await eventually('the addresses of the flood are released', () => stage.reserved().length === 1 || undefined, 40_000)
  assert.ok(await isAlive())
})

test('stored Services that wait for the controller do not count as unbound', async () => {
  await product.stop()
  product = await stage.start({ env: dialect.here, flags: ['--only=webhooks', `--max-unbound=${most}`] })
  for (let n = 0; n < 2 * most; n += 1) {
    const { spec } = await stage.create(loadBalancer(`stored-${n}`))
    assert.ok(spec.loadBalancerIP, `Service stored-${n} has its address`)
  }
})

test.after(() => stage.close())

test.run()
