import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Location } from '../../../clouds/ports/cloud.ts'
import { formerName, locate } from '../../../ledger/want/location.ts'
import type { LocationSource } from '../../../settings/service-policy.ts'

const known: Location[] = [
  {
    code: 'LT-Siauliai',
    name: 'Lithuania',
    kind: 'region',
    aliases: ['1', 'Lithuania', 'LT'],
    formerNames: ['EU-Nord-1', 'eu_nord_1'],
  },
  { code: 'NL-Amsterdam', name: 'Amsterdam, NL', kind: 'region', aliases: ['2', 'Amsterdam, NL', 'NL'] },
]
const setting = (value?: string): LocationSource => ({
  kind: 'setting',
  word: 'region',
  name: 'CHERRY_REGION_NAME',
  value,
})
const annotation: LocationSource = { kind: 'annotation', word: 'region', name: 'cherryservers.com/fip-region' }
const of = (value: string) => ({ 'cherryservers.com/fip-region': value })

for (const word of ['LT-Siauliai', 'lt-siauliai', 'Lithuania', 'lt', '1', ' LT ']) {
  test(`"${word}" is the region LT-Siauliai`, () => {
    assert.equal(locate({}, [setting(word)], known), { location: 'LT-Siauliai', warnings: [] })
    assert.equal(locate(of(word), [setting(), annotation], known), { location: 'LT-Siauliai', warnings: [] })
  })
}

test('a previous name is understood, with a warning that names the new one', () => {
  const warning =
    'annotation cherryservers.com/fip-region: "EU-Nord-1" is a previous name of region LT-Siauliai, write "LT-Siauliai"'
  assert.equal(locate(of('EU-Nord-1'), [annotation], known), { location: 'LT-Siauliai', warnings: [warning] })
  // Who creates a Service cannot mend the settings.
  assert.equal(locate({}, [setting('eu_nord_1')], known), { location: 'LT-Siauliai', warnings: [] })
  const source = setting('eu_nord_1')
  assert.match(formerName(source, { value: 'eu_nord_1', known }) ?? '', 'setting CHERRY_REGION_NAME: "eu_nord_1"')
  assert.is(formerName(source, { value: 'LT', known }), undefined)
})

test('two names of one region do not contradict each other', () => {
  assert.equal(locate(of('LT'), [setting('Lithuania'), annotation], known), { location: 'LT-Siauliai', warnings: [] })
  assert.equal(locate(of('NL'), [setting('Lithuania'), annotation], known), {
    location: 'LT-Siauliai',
    warnings: ['annotation cherryservers.com/fip-region: "NL" is ignored, CHERRY_REGION_NAME says "LT-Siauliai"'],
  })
})

test('a region that does not exist is refused with the known ones', () => {
  assert.equal(locate(of('LT-Siauliaj'), [annotation], known), {
    problem:
      'annotation cherryservers.com/fip-region: "LT-Siauliaj" is not a known region; did you mean "LT-Siauliai"? ' +
      'Known: LT-Siauliai (Lithuania), NL-Amsterdam (Amsterdam, NL)',
  })
})

const guesses: [written: string, meant: string | undefined][] = [
  ['Siauliai', 'LT-Siauliai'],
  ['siaulai', 'LT-Siauliai'],
  ['Amsterdam', 'NL-Amsterdam'],
  ['Lithuanie', 'LT-Siauliai'],
  ['UK', undefined],
  ['NT', undefined],
  ['Chicago', undefined],
]
for (const [written, meant] of guesses) {
  test(`for "${written}" the suggestion is ${meant ?? 'nothing'}`, () => {
    const located = locate(of(written), [annotation], known)
    assert.ok('problem' in located)
    assert.is(/did you mean "([^"]*)"/.exec(located.problem)?.[1], meant)
  })
}

test('while the regions are not known, a code passes as written', () => {
  assert.equal(locate(of('LT-Siauliai'), [annotation], undefined), { location: 'LT-Siauliai', warnings: [] })
})

test('where no annotation can set the location, only the settings are named', () => {
  assert.equal(locate({}, [setting()], known), {
    problem: 'no location is set for the address: set CHERRY_REGION_NAME for the cluster',
  })
})

test.run()
