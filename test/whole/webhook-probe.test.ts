// The API server no longer calls our webhooks, and with failurePolicy Ignore it does not complain.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }
const flags = ['--webhook-probe-interval=1s']
const configuration = 'mutatingwebhookconfiguration/zz-eip-admission'
const url = await stage.run('get', configuration, '-o', 'jsonpath={.webhooks[0].clientConfig.url}')
const [, secret = ''] = new URL(url).pathname.split('/')
const detail = async (product: Product) => (await product.health('/readyz?verbose')).text.match(/^\[!\] .*$/m)?.[0]
const metric = async (product: Product, name: string) =>
  (await product.health('/metrics')).text.match(new RegExp(`^eip_admission_${name} (.*)$`, 'm'))?.[1]
const events = (reason: string) => stage.run('get', 'events', `--field-selector=reason=${reason}`)
const reports = (product: Product, expected: RegExp) =>
  eventually('the readiness has the detail', async (observe) => {
    const found = observe(await detail(product))
    return found !== undefined && expected.test(found) ? found : undefined
  })

let product = await stage.startSwept({ env, flags })

test('while the API server calls the webhooks, the metric shows it, and nothing else does', async () => {
  await eventually(
    'the probe was answered',
    async () => (await metric(product, 'webhooks_reached')) === '1' || undefined,
  )
  assert.equal([await detail(product), await metric(product, 'services_without_admission_total')], [undefined, '0'])
  assert.not.match(await stage.run('get', 'configmaps', '-n', 'eip-admission'), 'probe')
})

test('a webhook that an operator changed is reported, and that it works again', async () => {
  const patch = (value: string) =>
    stage.run(
      'patch',
      configuration,
      '--type=json',
      '-p',
      JSON.stringify([{ op: 'replace', path: '/webhooks/0/clientConfig/url', value }]),
    )
  await patch('https://127.0.0.1:1/elsewhere')
  await reports(
    product,
    /webhook reserve.eip-admission.dev in .* has a different URL or Service .*; run `eip-admission doctor`/,
  )
  assert.is((await product.health('/readyz')).status, 200)
  await eventually(
    'who looks at the configuration sees why',
    async () => /Warning +AdmissionNotWorking/.test(await stage.run('describe', configuration)) || undefined,
  )
  await patch(url)
  await eventually('it works again', async () => ((await detail(product)) === undefined ? true : undefined))
  await eventually('an Event reports it', async () => /Normal/.test(await events('AdmissionWorking')) || undefined)
})

test('with a clock two hours ahead the API server trusts us no more: Event, metric and detail say why', async () => {
  await product.stop()
  await stage.run('delete', 'events', '--all')
  const ahead =
    'const Real = Date; globalThis.Date = class extends Real {' +
    'constructor(...of) { if (of.length > 0) super(...of); else super(Real.now() + 7.2e6) }' +
    'static now() { return Real.now() + 7.2e6 } }'
  const preload = `data:text/javascript,${encodeURIComponent(ahead)}`
  product = await stage.start({ env: { ...env, NODE_OPTIONS: `--import=${preload}` }, flags })
  await reports(product, /cannot reach the webhooks: .*x509: certificate has expired or is not yet valid/)
  assert.is((await product.health('/readyz')).status, 200)
  assert.is(await metric(product, 'webhooks_reached'), '0')
  await eventually(
    'an Event says why',
    async () => /Warning .*x509/.test(await events('AdmissionNotWorking')) || undefined,
  )

  const { spec } = await stage.create(loadBalancer('missed'))
  assert.is(spec.loadBalancerIP, undefined)
  await stage.settled('missed')
  assert.is(await metric(product, 'services_without_admission_total'), '1')
  for (const text of [await events('AdmissionNotWorking'), readFileSync(stage.logOf('eip-admission'), 'utf8')])
    assert.not(text.includes(secret), 'the secret path is shown')
})

test('without webhooks in the process nothing is probed', async () => {
  await product.stop()
  await stage.run('delete', 'events', '--all')
  product = await stage.start({ env, flags: [...flags, '--only=controllers'] })
  await stage.create(loadBalancer('uncounted'))
  await stage.settled('uncounted')
  assert.equal([await metric(product, 'webhooks_reached'), await detail(product)], [undefined, undefined])
  assert.not.match(await events('AdmissionNotWorking'), 'Warning')
})

test.after(() => stage.close())

test.run()
