// Only Equinix Metal has two kinds of locations: facilities, and the metros that they are in.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { facility, loadBalancer, metro } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
let product: Product = await stage.startSwept()

const create = (annotations: Record<string, string>) =>
  stage.kubectl(['create', '-f', '-'], loadBalancer('placed', { annotations }))

test('a refusal for a missing location names every annotation and setting that sets one', async () => {
  const { code, stderr } = await create({})
  assert.is(code, 1)
  const ways = `annotation ${facility} or ${metro} on the Service, or METAL_FACILITY_NAME or METAL_METRO_NAME`
  assert.match(stderr, `set ${ways} for the cluster`)
})

test('an unknown facility is refused with the nearest one and a list of facilities', async () => {
  const { code, stderr } = await create({ [facility]: 'da1' })
  assert.is(code, 1)
  assert.match(stderr, `annotation ${facility}: "da1" is not a known facility; did you mean "da11"? Known: am6 `)
  assert.not.match(stderr, 'sv (Silicon Valley)')
})

test('a metro is refused as a facility, and a facility as a metro', async () => {
  assert.match((await create({ [facility]: 'da' })).stderr, `${facility}: "da" is not a known facility`)
  assert.match((await create({ [metro]: 'da11' })).stderr, `${metro}: "da11" is not a known metro`)
})

const orders = [
  {
    name: "a Service's facility goes before its metro",
    env: {},
    annotations: { [facility]: 'NY5', [metro]: 'sv' },
    warning: `annotation ${metro}: "sv" is ignored, ${facility} says "ny5"`,
  },
  {
    name: 'a facility of the settings goes before their metro, and both before annotations',
    env: { METAL_FACILITY_NAME: 'ny5', METAL_METRO_NAME: 'da' },
    annotations: { [facility]: 'da11', [metro]: 'sv' },
    warning: `annotation ${metro}: "sv" is ignored, METAL_FACILITY_NAME says "ny5"`,
  },
]
for (const { name, env, annotations, warning } of orders) {
  test(name, async () => {
    await product.stop()
    product = await stage.startSwept({ env })
    const { code, stderr } = await create(annotations)
    assert.is(code, 0)
    assert.match(stderr, `Warning: ${warning}`)
    assert.equal(
      stage.reserved().map(({ place }) => place),
      ['ny5'],
    )
    await stage.run('delete', 'service', 'placed')
    await stage.gone('placed')
  })
}

test.after(() => stage.close())

test.run()
