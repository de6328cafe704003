import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { finalizer, loadBalancer, shown, unnamed } from '../whole/manifests.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
await world.startSwept({ env: dialect.here })
const { kubectl } = world
const { calls } = world.cloud.door

const nothingHappened = async (name: string) => {
  assert.equal(calls.all(), [], 'the cloud was not called')
  assert.equal([await world.service(name), await world.record(name)], [undefined, undefined])
}

const wouldReserve = `Warning: dry run: an address in ${dialect.place} would be reserved\n`
const ways = [['create'], ['apply'], ['apply', '--server-side']]
for (const verb of ways) {
  test(`kubectl ${verb.join(' ')} --dry-run=server warns what would happen, and reserves nothing`, async () => {
    calls.clear()
    const said = await kubectl([...verb, '--dry-run=server', '-f', '-', '-o', 'json'], loadBalancer('imagined'))
    assert.equal([said.code, said.stderr], [0, wouldReserve])
    const { metadata, spec } = JSON.parse(said.stdout) as Service
    assert.equal([metadata.finalizers, spec.loadBalancerIP], [[finalizer], undefined])
    await nothingHappened('imagined')
  })
}

test('a dry run with generateName warns what would happen, and writes no record', async () => {
  calls.clear()
  const said = await kubectl(['create', '--dry-run=server', '-f', '-'], unnamed('imagined-'))
  assert.equal([said.code, said.stderr], [0, wouldReserve])
  assert.equal(calls.all(), [])
  assert.is((await world.must('get', 'eip', '-o', 'name')).trim(), '')
})

for (const side of [[], ['--server-side']]) {
  const how = ['diff', ...side].join(' ')

  test(`kubectl ${how} of a new Service shows it, and nothing is reserved`, async () => {
    calls.clear()
    const { code, stdout, stderr } = await kubectl(['diff', ...side, '-f', '-'], loadBalancer('imagined'))
    assert.is(code, 1)
    assert.match(stdout, '+  type: LoadBalancer')
    assert.match(stderr, wouldReserve)
    await nothingHappened('imagined')
  })

  test(`kubectl ${how} of an unchanged Service is empty`, async () => {
    const name = `same${side.length}`
    await world.send(['apply', ...side], loadBalancer(name))
    await world.settled(name)
    calls.clear()
    const { code, stdout, stderr } = await kubectl(['diff', ...side, '-f', '-'], loadBalancer(name))
    assert.equal([code, stdout, stderr], [0, '', ''])
    const again = await kubectl(['apply', ...side, '-f', '-'], loadBalancer(name))
    assert.is(again.code, 0)
    assert.equal(calls.all(), [])
  })

  test(`kubectl ${how} of a changed Service shows the change alone, and changes nothing`, async () => {
    const name = `changed${side.length}`
    await world.send(['apply', ...side], loadBalancer(name))
    const address = await world.settled(name)
    calls.clear()
    const changed = loadBalancer(name, { spec: { selector: { app: 'green' } } })
    const { code, stdout } = await kubectl(['diff', ...side, '-f', '-'], changed)
    assert.is(code, 1)
    const lines = stdout.split('\n').filter((line) => /^[-+] /.test(line) && !/generation:/.test(line))
    assert.equal(lines, [`-    app: ${name}`, '+    app: green'])
    assert.is(await world.settled(name), address)
    assert.equal(calls.all(), [])
  })
}

test('a dry run of a change to ClusterIP shows what the Service would lose, and changes nothing', async () => {
  await world.create(loadBalancer('stays'))
  const address = await world.settled('stays')
  calls.clear()
  const patch = ['patch', 'service', 'stays', '--dry-run=server', '-p', '{"spec":{"type":"ClusterIP"}}', '-o', 'json']
  const { metadata, spec } = JSON.parse(await world.must(...patch)) as Service
  assert.equal([metadata.annotations?.[shown], spec.loadBalancerIP], [undefined, undefined])
  assert.is(await world.settled('stays'), address)
  assert.equal(calls.all(), [])
})

test('a dry run of a change to LoadBalancer warns what would happen, and reserves nothing', async () => {
  await world.create(loadBalancer('plain', { spec: { type: 'ClusterIP' } }))
  calls.clear()
  const said = await kubectl([
    'patch',
    'service',
    'plain',
    '--dry-run=server',
    '-p',
    '{"spec":{"type":"LoadBalancer"}}',
  ])
  assert.equal([said.code, said.stderr], [0, wouldReserve])
  assert.equal(calls.all(), [])
  assert.is(await world.record('plain'), undefined)
})

test('a dry run of a delete deletes nothing', async () => {
  await world.create(loadBalancer('spared'))
  const address = await world.settled('spared')
  await world.must('delete', 'service', 'spared', '--dry-run=server')
  assert.is(await world.settled('spared'), address)
})

test.after(() => world.close())

test.run()
