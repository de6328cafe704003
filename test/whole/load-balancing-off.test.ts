// A person who chose no announcing software is told everywhere that no Service gets an address, and what to set.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubectlOf } from '../../sandbox/kubectl.ts'
import { installPlugin } from './installed-plugin.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ dialect: 'cherry-servers' })
await installPlugin(stage)
const product = await stage.start({ env: { CHERRY_REGION: 'LT-Siauliai', CHERRY_LOAD_BALANCER: '' } })

test('kubectl warns at the creation of a Service, and not at its next edits', async () => {
  const created = await stage.kubectl(['create', '-f', '-'], loadBalancer('web'))
  assert.match(
    created.stderr,
    /Warning: eip-admission gives this Service no address: load balancing is off; set --loadb/,
  )
  const edited = await stage.kubectl(['label', 'service', 'web', 'a=b'])
  assert.equal([edited.code, edited.stderr], [0, ''])
})

test('kubectl eip why, the readiness and the log say the same', async () => {
  const { stdout } = await kubectlOf(stage.controlPlane)(['eip', 'why', 'web'])
  assert.match(stdout, /web has no address: eip-admission gives this Service no address: load balancing is off; set/)
  const { status, text } = await product.health('/readyz')
  assert.is(status, 200)
  assert.match(text, /\[!\] load-balancing: .*1, such as default\/web/)
  assert.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), /load balancing is off: no Service gets an address/)
})

test.after(() => stage.close())

test.run()
