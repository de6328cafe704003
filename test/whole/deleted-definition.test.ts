// Somebody deletes the definition of ElasticIP while the product runs, and every record with it.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
await stage.startSwept({ env: { METAL_METRO_NAME: 'da' } })
const retained = { annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' } }

async function release(name: string): Promise<void> {
  await stage.settled(name)
  await stage.run('delete', 'service', name, '--timeout=120s')
}

test('retained addresses stay at the cloud when all records are deleted with their definition', async () => {
  for (const name of ['first', 'second']) {
    await stage.create(loadBalancer(name, retained))
    await release(name)
  }
  const [first] = stage.reserved()
  await stage.run('delete', 'customresourcedefinition', 'elasticips.eip-admission.dev', '--timeout=120s')
  assert.is(stage.calls(routes.release), 0)
  assert.is(stage.reserved().length, 2)
  const log = await eventually('the log says so', (observe) => {
    const text = observe(readFileSync(stage.logOf('eip-admission'), 'utf8'))
    return text.includes('record removed with the definition of all ElasticIPs; its reservation stays')
      ? text
      : undefined
  })
  assert.match(log, first?.address ?? 'no reservation')
})

test.after(() => stage.close())

test.run()
