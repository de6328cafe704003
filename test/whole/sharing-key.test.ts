// Services that should share one address with Cilium. Reviews decide this, so Cilium does not run here.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const [key, ips] = ['lbipam.cilium.io/sharing-key', 'lbipam.cilium.io/ips']
const { here, loadBalancer: setting } = dialectOf('equinix-metal')
const stage = await openStage({ dialect: 'equinix-metal' })
await stage.startSwept({ env: { ...here, [setting]: 'cilium:///' } })

test('a second Service with a sharing key is refused, and shares the address as the refusal says', async () => {
  const http = await stage.create(loadBalancer('http', { annotations: { [key]: 'gitea' } }))
  const address = http.spec.loadBalancerIP ?? 'none'
  await eventually('the review knows the first one', async (observe) => {
    const dryRun = ['create', '--dry-run=server', '-f', '-']
    const { stderr } = observe(await stage.kubectl(dryRun, loadBalancer('probe', { annotations: { [key]: 'gitea' } })))
    return stderr.includes(address) || undefined
  })
  const ports = [{ port: 22 }]
  const ssh = loadBalancer('ssh', { annotations: { [key]: 'gitea' }, spec: { ports } })
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], ssh)
  assert.is(code, 1)
  const [, said] = stderr.match(new RegExp(`add annotation ${ips} with "([^"]*)"`)) ?? []
  assert.is(said, address, stderr)
  assert.is(stage.reserved().length, 1)
  const annotations = { [key]: 'gitea', [ips]: address }
  const shared = await stage.create(loadBalancer('ssh', { annotations, spec: { ports } }))
  assert.equal([shared.metadata.annotations?.[key], shared.metadata.annotations?.[ips]], ['gitea', address])
  assert.is(stage.reserved().length, 1)
})

test('the same key in another namespace is another one', async () => {
  await stage.run('create', 'namespace', 'elsewhere')
  await stage.create(loadBalancer('http', { namespace: 'elsewhere', annotations: { [key]: 'gitea' } }))
  assert.is(stage.reserved().length, 2)
})

test.after(() => stage.close())

test.run()
