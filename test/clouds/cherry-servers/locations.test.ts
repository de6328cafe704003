import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { locationBy, parseLocations } from '../../../clouds/cherry-servers/reservations.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { lithuania } from './fixtures.ts'
import { list, refusal, withRoutes } from './scripted-cherry.ts'

const amsterdam = { id: 2, name: 'Amsterdam, NL', slug: 'NL-Amsterdam', region_iso_2: 'NL' }
const chicago = { id: 3, name: 'Chicago', slug: 'US-Chicago', region_iso_2: 'US' }
const dallas = { id: 9, name: 'Dallas', slug: 'US-Dallas', region_iso_2: 'US' }

test('regions are known by their slugs, and by all that people call them', async () => {
  await withRoutes({ 'GET /v1/regions': list(lithuania, chicago) }, async (cloud, seen) => {
    assert.equal(await cloud.locations(neverAborted), [
      {
        code: 'LT-Siauliai',
        name: 'Lithuania',
        kind: 'region',
        aliases: ['1', 'Lithuania', 'LT'],
        formerNames: ['EU-Nord-1', 'eu_nord_1'],
      },
      { code: 'US-Chicago', name: 'Chicago', kind: 'region', aliases: ['3', 'Chicago', 'US'] },
    ])
    assert.is(seen.length, 1)
  })
})

const text: [string, string | undefined][] = [
  ['LT-Siauliai', 'LT-Siauliai'],
  ['lt-siauliai', 'LT-Siauliai'],
  ['Lithuania', 'LT-Siauliai'],
  ['LT', 'LT-Siauliai'],
  ['1', 'LT-Siauliai'],
  ['EU-Nord-1', 'LT-Siauliai'],
  ['eu_nord_1', 'LT-Siauliai'],
  [' Amsterdam, NL ', 'NL-Amsterdam'],
  ['EU-West-1', 'NL-Amsterdam'],
  ['US-Dallas', 'US-Dallas'],
  ['US', undefined],
  ['EU-Nord-2', undefined],
  ['', undefined],
]
for (const [word, code] of text)
  test(`"${word}" is ${code ?? 'no region, or more than one'}`, () => {
    const locations = parseLocations([lithuania, amsterdam, chicago, dallas]) ?? []
    assert.is(locationBy(word, locations)?.code, code)
  })

test('an old name that a region has again is its own', () => {
  const again = { id: 8, name: 'North', slug: 'EU-Nord-1', region_iso_2: 'SE' }
  const locations = parseLocations([lithuania, again]) ?? []
  assert.is(locationBy('EU-Nord-1', locations)?.code, 'EU-Nord-1')
  assert.equal(locations[0]?.formerNames, ['eu_nord_1'])
})

test('what has no slug is no region', () => {
  assert.equal(parseLocations([{ id: 4, name: 'Nowhere' }, null, 7]), [])
})

for (const reply of [{ json: {} }, { status: 200 }, { text: '<p>' }] as Reply[])
  test(`${JSON.stringify(reply)} is an error, not a world without regions`, async () => {
    await withRoutes({ 'GET /v1/regions': reply }, async (cloud) => {
      assert.is((await cloudErrorOf(cloud.locations(neverAborted))).fault, 'unavailable')
    })
  })

test('a token that may not see the regions gets an error about the key', async () => {
  await withRoutes({ 'GET /v1/regions': refusal(403, 'No') }, async (cloud) => {
    assert.is((await cloudErrorOf(cloud.locations(neverAborted))).fault, 'auth')
  })
})

test('whatever JSON comes, looking for regions in it does not fail', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void parseLocations(value)))
  fc.assert(fc.property(fc.array(fc.jsonValue()), (value) => assert.ok(parseLocations(value))))
})

test.run()
