import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Secret } from '../../../lib/secret.ts'
import { changesBetween, withValues, withValuesOf } from '../../../server/reload/setting-changes.ts'
import { equinixMetal } from '../../../clouds/equinix-metal/settings.ts'
import { settingsOf } from './cloud-settings.ts'

const table = equinixMetal.table
const running = settingsOf({ apiKey: 'old', projectID: 'p', metro: 'da' })

const rows: { file: Record<string, string>; reloaded: string[]; restart: string[] }[] = [
  { file: { apiKey: 'old', projectID: 'p', metro: 'da' }, reloaded: [], restart: [] },
  { file: { apiKey: 'new', projectID: 'p', metro: 'da' }, reloaded: ['apiKey'], restart: [] },
  { file: { apiKey: 'old', projectID: 'p', metro: 'ny' }, reloaded: ['metro'], restart: [] },
  { file: { apiKey: 'old', projectID: 'p' }, reloaded: ['metro'], restart: [] },
  { file: { apiKey: 'old', projectID: 'q', metro: 'da' }, reloaded: [], restart: ['projectId'] },
  {
    file: { apiKey: 'new', projectID: 'q', metro: 'da', loadbalancer: 'kube-vip://' },
    reloaded: ['apiKey'],
    restart: ['loadBalancer', 'projectId'],
  },
]

for (const { file, ...expected } of rows) {
  test(`the changes of ${JSON.stringify(file)}`, () => {
    const { reloaded, restart } = changesBetween(table, running, settingsOf(file))
    assert.equal({ reloaded, restart: restart.toSorted() }, expected)
  })
}

test('only the named values are taken of other settings', () => {
  const found = settingsOf({ apiKey: 'new', projectID: 'q', metro: 'ny' })
  const taken = withValuesOf(running, found, ['apiKey', 'metro'])
  assert.equal(changesBetween(table, found, taken), { reloaded: [], restart: ['projectId'] })
  const kept = withValues(taken, { apiKey: new Secret('old') })
  assert.equal(changesBetween(table, running, kept), { reloaded: ['metro'], restart: [] })
})

test.run()
