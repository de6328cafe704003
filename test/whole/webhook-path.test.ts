// A person replaces the secret path of the webhooks while Services are created.
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runProduct } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer, unnamed } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const running = { env: { METAL_METRO_NAME: 'da' } }
const product = await stage.startSwept(running)

const urlsOf = async (kind: string) =>
  (await stage.run('get', kind, 'zz-eip-admission', '-o', 'jsonpath={.webhooks[*].clientConfig.url}')).split(' ')
const urls = async () => [
  ...(await urlsOf('mutatingwebhookconfiguration')),
  ...(await urlsOf('validatingwebhookconfiguration')),
]
const segmentOf = (url = '') => new URL(url).pathname.split('/')[1]

/** The status of the answer to a body that is not a review: 400 if the path is accepted. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const call = request(url, { method: 'POST', headers, rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    call.on('error', reject).end('{}')
  })
}

/** Writes another path into the Secret, as a person does after the old one has leaked. */
async function replacePath(segment: string): Promise<void> {
  const data = { path: Buffer.from(segment).toString('base64') }
  const secret = ['secret', 'eip-admission-webhook', '-n', 'eip-admission']
  await stage.run('patch', ...secret, '--type=merge', `-p=${JSON.stringify({ data })}`)
}

test('one write replaces the path, every Service has its address at admission, and the old path is refused in the end', async () => {
  const [first = ''] = await urls()
  assert.is(await statusOf(first), 400)
  await replacePath('3'.repeat(32))
  let created = 0
  const changed = await eventually(
    'the path is in the configurations',
    async () => {
      created += 1
      const { spec } = await stage.create(loadBalancer(`during-${created}`))
      assert.ok(spec.loadBalancerIP, `Service during-${created} has no address at admission`)
      const now = await urls()
      return now.every((url) => segmentOf(url) === '3'.repeat(32)) ? now : undefined
    },
    60_000,
  )
  assert.is(await statusOf(changed[0] ?? ''), 400)
  await eventually('the old path is refused', async () => (await statusOf(first)) === 404 || undefined, 90_000)
})

test('install keeps the path that is current, and an old one that is applied again is repaired', async () => {
  await product.stop()
  const [url = ''] = await urls()
  const { origin, pathname } = new URL(url)
  const cluster = `--kubeconfig=${stage.controlPlane.kubeconfig}`
  await runProduct(['install', cluster, `--webhook-url=${origin}`])
  assert.is(segmentOf((await urls())[0]), segmentOf(url))
  const old = [
    { op: 'replace', path: '/webhooks/0/clientConfig/url', value: `${origin}/${'0'.repeat(32)}/mutate-services` },
  ]
  await stage.run(
    'patch',
    'mutatingwebhookconfiguration',
    'zz-eip-admission',
    '--type=json',
    `-p=${JSON.stringify(old)}`,
  )
  await stage.start({ env: running.env })
  await eventually(
    'the path is repaired',
    async () => ((await urls())[0] === `${origin}${pathname}` ? true : undefined),
    40_000,
  )
  await eventually('reviews arrive again', async () => {
    const { spec } = await stage.create(unnamed('repaired-'))
    return spec.loadBalancerIP
  })
})

test('a path that a person writes into the Secret is accepted at once, and one that nobody wrote is refused', async () => {
  const [url = ''] = await urls()
  const [chosen, wrong] = ['1', '2'].map((digit) => url.replace(segmentOf(url) ?? '', digit.repeat(32)))
  // The Secret is not read again for a second after a call to an unknown path, with which the last test may have ended.
  await sleep(1_500)
  await replacePath(segmentOf(chosen) ?? '')
  assert.equal(await Promise.all([chosen, url, wrong].map((one) => statusOf(one ?? ''))), [400, 400, 404])
})

test.after(() => stage.close())

test.run()
