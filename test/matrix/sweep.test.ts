// Reservations that no Service needs, and addresses whose reservation vanished.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { warned } from '../whole/warned.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const { here: env, usage } = dialect
const quick = ['--sweep-interval=1s', '--unbound-grace=2s']
const has = (id: string) => stage.reserved().some((one) => one.id === id)

// Reservations of this cluster, of others and of an operator.
const cluster = `cluster=${await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const orphan = await stage.order([usage, cluster, 'service=unknown'])
const foreign = [
  await stage.order([usage, 'cluster=another', 'service=unknown']),
  await stage.order([usage, 'service=unknown']),
  await stage.order(['usage=web', cluster]),
  await stage.order(),
]
const product = await stage.start({ env, flags: [...quick, '--sweep=report'] })

test('with --sweep=report an orphan is logged and stays', async () => {
  await eventually('the log names the orphan', () => {
    const log = readFileSync(stage.logOf('eip-admission'), 'utf8').split('\n')
    return log.some((line) => line.includes('orphaned address') && line.includes(orphan.id)) || undefined
  })
  assert.ok(has(orphan.id))
})

const sweeps = once(async () => {
  await product.stop()
  await stage.start({ env, flags: quick })
})

test('the sweep releases an orphan, and no reservation without our marks', async () => {
  await sweeps()
  await eventually('the orphan no longer exists', () => !has(orphan.id) || undefined)
  assert.ok(foreign.every(({ id }) => has(id)))
})

test('a Service whose reservation vanished at the provider gets another address and an Event', async () => {
  await sweeps()
  await stage.create(loadBalancer('unlucky'))
  const lost = await stage.settled('unlucky')
  const { id = '' } = stage.reserved().find(({ address }) => address === lost) ?? {}
  stage.cloud.control.reservations.vanish(id)
  await eventually('the Service shows another address', async (observe) => {
    const shown = observe(await stage.service('unlucky'))?.status?.loadBalancer?.ingress?.[0]?.ip
    return (
      (shown !== undefined && stage.reserved().some(({ address, id: now }) => address === shown && now !== id)) ||
      undefined
    )
  })
  await stage.settled('unlucky')
  await warned(stage, 'default/unlucky', new RegExp(`The provider no longer has address ${lost}`))
})

test.after(() => stage.close())

test.run()
