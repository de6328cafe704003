import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../../announcers/announcer.ts'
import type { FormerConfigurator } from '../../../controllers/announcing/configurator.ts'
import { keepFormer } from '../../../controllers/announcing/declaration.ts'

const signal = new AbortController().signal
const [living, gone] = ['203.0.113.40', '203.0.113.41']
const state: Announcements = { addresses: [], undecided: [{ address: living, services: ['default/web'] }], nodes: [] }

/** Former software that has these addresses; its API may not answer. */
function former(has: string[]) {
  const world = { has, isDown: false }
  const configurator: FormerConfigurator = {
    carryOut: () => Promise.reject(new Error('nobody empties it')),
    withdraw({ addresses, undecided = [] }) {
      if (world.isDown) return Promise.reject(new Error('no answer'))
      const before = world.has
      world.has = before.filter((one) => [...addresses, ...undecided].some(({ address }) => address === one))
      return Promise.resolve(world.has.length < before.length)
    },
    announces: (asked) => Promise.resolve(world.has.includes(asked)),
  }
  return { world, configurator }
}

test('while load balancing is off nothing is taken out of previous software before a release waits for it', async () => {
  const [{ world, configurator }, other] = [former([living, gone]), former(['203.0.113.42'])]
  let requests = 0
  const kept = keepFormer({ former: [other.configurator, configurator], request: () => (requests += 1) })
  assert.is((await kept.carryOut(state, signal)).isChanged, false)
  assert.equal(world.has, [living, gone])
  assert.is(await kept.announces('203.0.113.49', signal), false)
  assert.equal([await kept.announces(gone, signal), requests], [true, 1])
  assert.is((await kept.carryOut(state, signal)).isChanged, true)
  assert.equal([world.has, other.world.has], [[living], ['203.0.113.42']])
  assert.is(await kept.announces(gone, signal), false)
  // A predecessor that is active writes an address that no Service of the cluster shows.
  world.has = [living, gone]
  assert.is((await kept.carryOut(state, signal)).isChanged, false)
  assert.equal(world.has, [living, gone])
})

test('a previous API that does not answer is asked again by the release that waits', async () => {
  const { world, configurator } = former([living, gone])
  const kept = keepFormer({ former: [configurator], request: () => {} })
  await kept.announces(gone, signal)
  world.isDown = true
  const error = await kept.carryOut(state, signal).catch((reason: unknown) => reason)
  assert.match(String(error), 'no answer')
  world.isDown = false
  assert.is(await kept.announces(gone, signal), true)
  await kept.carryOut(state, signal)
  assert.equal(world.has, [living])
})

test.run()
