// A short walk of `make chaos` with a fixed seed.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { walk } from '../chaos/walk.ts'
import { dialect } from './dialect.ts'

test('after 150 random steps no address is lost and none has two holders', async () => {
  const { steps, violations } = await walk({ dialect: dialect.name, seed: 7, steps: 150 })
  assert.equal(violations, [])
  assert.is(steps, 150)
})

test.run()
