// `--load-balancer-class`: Services of the classes that the operator names get addresses, and no others.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Result } from '../../commands/doctor/check.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { typed } from './command-line.ts'
import { eventually } from './eventually.ts'
import { finalizer, loadBalancer, shown } from './manifests.ts'
import { openStage } from './test-stage.ts'
import { remedyText } from '../../lib/remedy.ts'

const stage = await openStage()
const { cloud, project, token, controlPlane } = stage
const settings = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }
const [ours, theirs] = ['example.com/ours', 'example.com/theirs']
const classes = `--load-balancer-class=${ours}`

const before = await stage.startSwept({ env: settings })
await stage.create(loadBalancer('plain'))
const address = await stage.settled('plain')
await before.stop()
await stage.start({ env: settings, flags: [classes] })

/** The findings of `doctor` about the conditions of the webhooks, with its remedy. */
async function reviewedClasses(): Promise<Result[]> {
  const env = { PATH: process.env['PATH'] ?? '', ...dialects['equinix-metal'].env({ url: cloud.url, project, token }) }
  const place = ['--cloud-provider=equinixmetal', `--base-url=${cloud.url}`, `--kubeconfig=${controlPlane.kubeconfig}`]
  const { stdout } = await typed(['doctor', ...place, classes, '-o', 'json'], { ...env, ...settings })
  const { results } = JSON.parse(stdout) as { results: Result[] }
  return results.filter(({ check }) => check === 'reviewed-classes')
}

test('webhooks that were installed for other classes are an error of doctor, and its command fixes them', async () => {
  const [found] = await reviewedClasses()
  assert.is(found?.level, 'error')
  assert.match(
    found?.what ?? '',
    /^reserve\.eip-admission\.dev, .*: the condition no-other-class is not the one of this version for --load/,
  )
  assert.match(remedyText(found?.fix ?? ''), `--load-balancer-class=${ours}`)
  const { code, stderr } = await typed([
    ...remedyText(found?.fix ?? '')
      .split(' ')
      .slice(1),
    `--kubeconfig=${controlPlane.kubeconfig}`,
  ])
  assert.is(code, 0, stderr)
  assert.is((await reviewedClasses())[0]?.level, 'ok')
})

test('a Service of the class gets its address while it is created, and gives it back', async () => {
  // The API server reads a changed configuration a moment later.
  await eventually('the API server calls the webhooks for the class', async () => {
    const { stdout } = await stage.kubectl(
      ['create', '--dry-run=server', '-f', '-', '-o', 'json'],
      loadBalancer('dry', { spec: { loadBalancerClass: ours } }),
    )
    return stdout.includes(finalizer) || undefined
  })
  const { spec, metadata } = await stage.create(loadBalancer('classed', { spec: { loadBalancerClass: ours } }))
  assert.ok(spec.loadBalancerIP)
  assert.equal([metadata.annotations?.[shown], metadata.finalizers], [spec.loadBalancerIP, [finalizer]])
  assert.is(await stage.settled('classed'), spec.loadBalancerIP)
  await stage.run('delete', 'service', 'classed', '--timeout=60s')
  assert.equal(
    stage.reserved().map((one) => one.address),
    [address],
  )
})

test('Services of other classes, and of none, get nothing', async () => {
  for (const [name, spec] of [
    ['other', { loadBalancerClass: theirs }],
    ['new', {}],
  ] as const) {
    const created = await stage.create(loadBalancer(name, { spec }))
    assert.equal([created.spec.loadBalancerIP, created.metadata.finalizers], [undefined, undefined], name)
  }
  // The controller has seen them once a later Service has settled.
  await stage.create(loadBalancer('later', { spec: { loadBalancerClass: ours } }))
  await stage.settled('later')
  for (const name of ['other', 'new']) {
    const { metadata, spec, status } = (await stage.service(name)) ?? {}
    assert.equal([metadata?.finalizers, spec?.loadBalancerIP, status?.loadBalancer], [undefined, undefined, {}], name)
  }
  assert.is(stage.reserved().length, 2)
})

test('a Service that we served before keeps its address', async () => {
  const { spec } = (await stage.service('plain')) ?? {}
  assert.is(spec?.loadBalancerIP, address)
  assert.ok(stage.reserved().some((one) => one.address === address))
})

test('a Service that leaves type LoadBalancer loses its class and its address', async () => {
  const { stdout } = await stage.kubectl([
    'patch',
    'service',
    'later',
    '--type=merge',
    '-p',
    '{"spec":{"type":"ClusterIP"}}',
    '-o',
    'json',
  ])
  assert.not.match(stdout, 'loadBalancerIP')
  await eventually('its address is given back', () => stage.reserved().length === 1 || undefined)
})

test('a class under our own name is refused at the start, with what would be right', async () => {
  const { code, stderr } = await typed([
    'serve',
    '--cloud-provider=equinixmetal',
    '--load-balancer-class=eip-admission.dev/control-plane',
  ])
  assert.is(code, 1)
  assert.match(stderr, /--load-balancer-class.*eip-admission\.dev\/control-plane.*such as example\.com\/name, or none/s)
})

test.after(() => stage.close())

test.run()
