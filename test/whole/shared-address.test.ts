// Services of one namespace share a reserved address, and the Service with the record is deleted, as when a chart
// merges two Services.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { elasticIPs, heldAddress } from '../../ledger/record/elastic-ip.ts'
import { listAll } from '../../kube/list-all.ts'
import { dialectOf } from './dialects.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const { here } = dialectOf('equinix-metal')
const stage = await openStage({ dialect: 'equinix-metal' })
await stage.startSwept({ env: here })

const tcp = { name: 'dns-tcp', protocol: 'TCP', port: 53 }
const udp = { name: 'dns-udp', protocol: 'UDP', port: 53 }
const reserved = () => stage.reserved().map(({ address }) => address)
const records = async () =>
  (await listAll(stage.client, elasticIPs)).map((record) => [record.metadata.name, heldAddress(record)])
const isShown = (name: string, address: string) =>
  eventually(
    `${name} shows ${address}`,
    async (observe) => observe(shownIn(await stage.service(name))) === address || undefined,
  )
const remove = (name: string) => stage.run('delete', 'service', name, '--timeout=120s')

test('two Services are joined into one with the same address and ports, which stays reserved for that one', async () => {
  await stage.create(loadBalancer('dns-tcp', { spec: { ports: [tcp] } }))
  const address = await stage.settled('dns-tcp')
  await stage.create(loadBalancer('dns-udp', { spec: { ports: [udp], loadBalancerIP: address } }))
  await isShown('dns-udp', address)
  await stage.create(loadBalancer('dns', { spec: { ports: [tcp, udp], loadBalancerIP: address } }))
  await remove('dns-udp')
  await remove('dns-tcp')
  await isShown('dns', address)
  assert.equal([reserved(), await records()], [[address], [['default.dns', address]]])
  await remove('dns')
  await eventually('it is released', async () => (reserved().length === 0 ? true : undefined))
})

test('an address to be retained stays that of the deleted Service, and the other one continues showing it', async () => {
  const annotations = { 'eip-admission.dev/reclaim-policy': 'Retain' }
  await stage.create(loadBalancer('kept', { annotations, spec: { ports: [tcp] } }))
  const address = await stage.settled('kept')
  await stage.create(loadBalancer('beside', { spec: { ports: [udp], loadBalancerIP: address } }))
  await isShown('beside', address)
  await remove('kept')
  assert.is(shownIn(await stage.service('beside')), address)
  await stage.create(loadBalancer('kept', { annotations, spec: { ports: [tcp] } }))
  assert.is(await stage.settled('kept'), address)
  assert.equal(reserved(), [address])
})

test.after(() => stage.close())

test.run()
