// The peculiarities of a cluster on Cherry Servers: regions with several names, including old ones, and Services of
// other managers.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { loadBalancer } from './manifests.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage({ dialect: 'cherry-servers' })
await stage.startSwept({ env: { CHERRY_REGION_NAME: 'EU-Nord-1' }, flags: ['--service-location-wins'] })

const region = 'cherryservers.com/fip-region'
const managed = 'cherryservers.com/loadbalancer-managed'
const placeOf = (address: string | undefined) => stage.reserved().find((one) => one.address === address)?.place

test('the old name of a region in the settings is accepted, and the log says what to write', async () => {
  const output = 'setting CHERRY_REGION_NAME: \\"EU-Nord-1\\" is a previous name of region LT-Siauliai'
  await eventually('the log says it', () => {
    return readFileSync(stage.logOf('eip-admission'), 'utf8').includes(output) || undefined
  })
  const { spec } = await stage.create(loadBalancer('web'))
  assert.is(placeOf(spec.loadBalancerIP), 'LT-Siauliai')
})

test('a Service that requests a region by its country gets its address there', async () => {
  const { spec } = await stage.create(loadBalancer('abroad', { annotations: { [region]: 'nl' } }))
  assert.is(placeOf(spec.loadBalancerIP), 'NL-Amsterdam')
})

test('the old name of a region on a Service is accepted, with a warning that gives the new one', async () => {
  const elderly = loadBalancer('elderly', { annotations: { [region]: 'EU-West-1' } })
  const { stderr } = await stage.kubectl(['create', '-f', '-'], elderly)
  assert.match(stderr, 'write "NL-Amsterdam"')
  assert.is(placeOf(await stage.settled('elderly')), 'NL-Amsterdam')
})

test('a Service with loadbalancer-managed=false gets no address and no finalizer', async () => {
  const { spec, metadata } = await stage.create(loadBalancer('elsewhere', { annotations: { [managed]: 'false' } }))
  assert.equal([spec.loadBalancerIP, metadata.finalizers], [undefined, undefined])
})

test('a Service with loadbalancer-managed=false can have another program’s address, and none of another tenant', async () => {
  await stage.run('create', 'namespace', 'tenant')
  const robbed = (await stage.create(loadBalancer('robbed'))).spec.loadBalancerIP ?? ''
  const create = (name: string, address: string) => {
    const facts = { namespace: 'tenant', annotations: { [managed]: 'false' }, spec: { loadBalancerIP: address } }
    return stage.kubectl(['create', '-f', '-'], loadBalancer(name, facts))
  }
  assert.match((await create('thief', robbed)).stderr, 'Service default/robbed, which is in another namespace')
  assert.is(await stage.service('thief', 'tenant'), undefined)
  const { code, stderr } = await create('elsewhere', '8.8.8.8')
  assert.is(code, 0, stderr)
})

test('a Service that is handed to another manager releases its address', async () => {
  const { spec } = await stage.create(loadBalancer('handed-over'))
  assert.is(await stage.settled('handed-over'), spec.loadBalancerIP)
  await stage.run('annotate', 'service', 'handed-over', `${managed}=false`)
  await eventually('it has nothing of ours', async (observe) => {
    const [service, record] = observe([await stage.service('handed-over'), await stage.record('handed-over')])
    const isAvailable = service?.spec.loadBalancerIP === undefined && service?.metadata.finalizers === undefined
    return (isAvailable && record === undefined) || undefined
  })
  assert.is(placeOf(spec.loadBalancerIP), undefined)
})

test('so does one that a replacement by a manifest hands over, which drops our finalizer', async () => {
  const address = (await stage.create(loadBalancer('replaced'))).spec.loadBalancerIP
  assert.is(await stage.settled('replaced'), address)
  await stage.send(['replace'], loadBalancer('replaced', { annotations: { [managed]: 'false' } }))
  await eventually('it shows no address from eip-admission, and its address is released', async (observe) => {
    const [service, record] = observe([await stage.service('replaced'), await stage.record('replaced')])
    return (shownIn(service) === undefined && record === undefined && placeOf(address) === undefined) || undefined
  })
})

test('a node has the providerID of its server, and its region as a label', async () => {
  const { startNode, node } = simulatedNodes(stage)
  const { id } = await startNode('worker')
  const { metadata, spec } = (await node('worker')) ?? {}
  assert.is(spec?.providerID, `cherryservers://${id}`)
  assert.is(metadata?.labels?.['topology.kubernetes.io/region'], 'LT-Siauliai')
})

test.after(() => stage.close())

test.run()
