// What only a cluster on Cherry Servers has: regions by many names, old ones among them, and Services of somebody else.
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { machineRoom } from './kubelet.ts'
import { loadBalancer } from './manifests.ts'
import { openWorld } from './world.ts'

const world = await openWorld({ dialect: 'cherry-servers' })
await world.startSwept({ env: { CHERRY_REGION_NAME: 'EU-Nord-1' }, flags: ['--service-location-wins'] })

const region = 'cherryservers.com/fip-region'
const managed = 'cherryservers.com/loadbalancer-managed'
const placeOf = (address: string | undefined) => world.reserved().find((one) => one.address === address)?.place

test('a region of the settings by its old name is understood, and the log says what to write', async () => {
  const said = 'setting CHERRY_REGION_NAME: \\"EU-Nord-1\\" is a former name of region LT-Siauliai'
  await eventually('the log says it', () => {
    return readFileSync(world.logOf('eip-admission'), 'utf8').includes(said) || undefined
  })
  const { spec } = await world.create(loadBalancer('web'))
  assert.is(placeOf(spec.loadBalancerIP), 'LT-Siauliai')
})

test('a Service that asks for a region by its country gets its address there', async () => {
  const { spec } = await world.create(loadBalancer('abroad', { annotations: { [region]: 'nl' } }))
  assert.is(placeOf(spec.loadBalancerIP), 'NL-Amsterdam')
})

test('an old name on a Service is understood, and whoever wrote it reads the new one', async () => {
  const elderly = loadBalancer('elderly', { annotations: { [region]: 'EU-West-1' } })
  const { stderr } = await world.kubectl(['create', '-f', '-'], elderly)
  assert.match(stderr, 'write "NL-Amsterdam"')
  assert.is(placeOf(await world.settled('elderly')), 'NL-Amsterdam')
})

test('a Service that somebody else manages gets nothing of us', async () => {
  const { spec, metadata } = await world.create(loadBalancer('elsewhere', { annotations: { [managed]: 'false' } }))
  assert.equal([spec.loadBalancerIP, metadata.finalizers], [undefined, undefined])
})

test('a Service that is given to somebody else later gives its address back', async () => {
  const { spec } = await world.create(loadBalancer('handed-over'))
  assert.is(await world.settled('handed-over'), spec.loadBalancerIP)
  await world.must('annotate', 'service', 'handed-over', `${managed}=false`)
  await eventually('it has nothing of ours', async (see) => {
    const [service, record] = see([await world.service('handed-over'), await world.record('handed-over')])
    const isAvailable = service?.spec.loadBalancerIP === undefined && service?.metadata.finalizers === undefined
    return (isAvailable && record === undefined) || undefined
  })
  assert.is(placeOf(spec.loadBalancerIP), undefined)
})

test('a node is called by its server, and is in its region', async () => {
  const { comesUp, node } = machineRoom(world)
  const { id } = await comesUp('worker')
  const { metadata, spec } = (await node('worker')) ?? {}
  assert.is(spec?.providerID, `cherryservers://${id}`)
  assert.is(metadata?.labels?.['topology.kubernetes.io/region'], 'LT-Siauliai')
})

test('the log shows no missing right and no secret', () => world.close())

test.run()
