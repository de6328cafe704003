// A person deletes the CRD of ElasticIP, and so every record, while the product runs.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runProduct } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
const often = ['--sweep-interval=1s', '--unbound-grace=10s']
const product = await stage.startSwept({ env: { METAL_METRO_NAME: 'da' }, flags: often })
const retained = { annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' } }

const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')
const logged = (text: string) => eventually(`the log says: ${text}`, () => log().includes(text) || undefined)

const addresses: (string | undefined)[] = []

test('retained addresses stay at the provider when all records are deleted with their definition', async () => {
  for (const name of ['first', 'second']) {
    addresses.push((await stage.create(loadBalancer(name, retained))).spec.loadBalancerIP)
    await stage.settled(name)
    await stage.run('delete', 'service', name, '--timeout=120s')
  }
  await eventually('their marks say that they are retained', () => {
    const all = stage.reserved() as { tags?: string[] }[]
    return all.every(({ tags }) => tags?.includes('retained=true')) || undefined
  })
  await stage.run('delete', 'customresourcedefinition', 'elasticips.eip-admission.dev', '--timeout=120s')
  await logged('record removed with the definition of all ElasticIPs; its reservation stays')
  await product.stop()
  assert.is(stage.calls(routes.release), 0)
})

test('an installation that comes later keeps them, and the next Service of the name gets its address', async () => {
  await runProduct(['install', `--kubeconfig=${stage.controlPlane.kubeconfig}`, `--webhook-url=${stage.webhookUrl}`])
  await stage.startSwept({ env: { METAL_METRO_NAME: 'da' }, flags: often })
  const { length } = log()
  // The sweeps must report this for longer than the grace period.
  await eventually('twelve sweeps keep both', () => {
    const said = log().slice(length).split('retained address without an ElasticIP; it is kept').length - 1
    return said >= 24 || undefined
  })
  const { spec } = await stage.create(loadBalancer('second', retained))
  assert.is(spec.loadBalancerIP, addresses[1])
  assert.is(stage.calls(routes.release), 0)
  assert.equal(
    stage.reserved().map(({ address }) => address),
    addresses,
  )
})

test.after(() => stage.close())

test.run()
