import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Location } from '../../../clouds/ports/cloud.ts'
import { knownLocations } from '../../../ledger/own/provider-lists.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const hourMs = 3_600_000
const place = (code: string): Location => ({ code, name: code, kind: 'metro' })

test('a change is reported if the list or the settings changed, and not at each read', async () => {
  let list = [place('da')]
  let tellOfSettings = () => {}
  const clock = fakeClock()
  const locations = knownLocations({
    cloud: { locations: async () => structuredClone(list) },
    log: silentLog,
    sources: [],
    settings: { onChange: (listener) => void (tellOfSettings = listener) },
    clock,
  })
  let told = 0
  locations.onChange(() => void (told += 1))
  const over = new AbortController()
  locations.start(over.signal)
  await clock.pass(0)
  assert.is(told, 1)
  const first = locations.current()
  await clock.pass(hourMs)
  assert.equal([told, locations.current() === first], [1, true])
  list = [place('da'), place('sv')]
  await clock.pass(hourMs)
  assert.equal([told, locations.current()], [2, list])
  tellOfSettings()
  assert.is(told, 3)
  over.abort()
})

test.run()
