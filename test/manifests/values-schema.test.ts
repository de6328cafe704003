// Helm refuses what `serve` would refuse: the schema of the chart's values is made from the tables of settings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serveSections } from '../../commands/settings/serve.ts'

const file = join(import.meta.dirname, '../../manifests/chart/values.schema.json')
const schema = JSON.parse(readFileSync(file, 'utf8')) as { properties: { settings: object } }
const isValid = new Ajv({ allowUnionTypes: true }).compile(schema.properties.settings)

const cases: [name: string, value: unknown, isRight: boolean][] = [
  ['loadbalancer', 'metallb:///metallb-system?crdConfiguration=true', true],
  ['loadbalancer', 'METALLB:///', true],
  ['loadbalancer', 'kube-vip://', true],
  ['loadbalancer', 'emlb:///da', true],
  ['loadbalancer', 'None', true],
  ['loadbalancer', '', true],
  ['loadbalancer', 'metalb:///', false],
  ['loadbalancer', 'cilium', false],
  ['max-addresses', 'lots', false],
  ['max-addresses', 'none', true],
  ['max-addresses', 100, true],
  ['max-addresses', '100', true],
  ['max-addresses', -1, false],
  ['max-addresses', '-5', false],
  ['max-addresses', '1000001', false],
  ['max-addresses', '1000000', true],
  ['sweep-interval', 5, false],
  ['sweep-interval', '5', false],
  ['sweep-interval', '5m', true],
  ['sweep-interval', '1h30m', true],
  ['sweep-interval', '0', true],
  ['webhook-probe-interval', 0, true],
  ['sweep', 'Report', true],
  ['sweep', 'delete', false],
  ['allow-retain', true, true],
  ['allow-retain', 'True', true],
  ['allow-retain', 'yes', false],
  ['webhook-secure-port', 70_000, false],
  ['webhook-secure-port', '70000', false],
  ['webhook-secure-port', '0', false],
  ['webhook-secure-port', '65535', true],
  ['concurrent-node-syncs', '101', false],
  ['concurrent-node-syncs', '007', true],
  ['control-plane-probe-failures', '0', false],
  ['local-asn', 0, true],
  ['local-asn', '0', true],
  ['local-asn', '4294967296', false],
]
for (const [name, value, isRight] of cases)
  test(`settings.${name}=${JSON.stringify(value)} is ${isRight ? 'accepted' : 'refused'}`, () => {
    assert.is(isValid({ [name]: value }), isRight, JSON.stringify(isValid.errors))
  })

test('every default is accepted', () => {
  for (const { table } of serveSections)
    for (const setting of Object.values(table)) {
      if (setting.flag === undefined || !('default' in setting)) continue
      const value = setting.default
      const { properties = {} } = schema.properties.settings as { properties?: Record<string, unknown> }
      const name = setting.flag.slice(2)
      if (name in properties)
        assert.ok(isValid({ [name]: value }), `${name}=${value} ${JSON.stringify(isValid.errors)}`)
    }
})

test.run()
