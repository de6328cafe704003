import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { finalizer, loadBalancer, shown, unnamed } from '../whole/manifests.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
await stage.startSwept({ env: dialect.here })
const { kubectl } = stage
const { calls } = stage.cloud.control

const nothingHappened = async (name: string) => {
  assert.equal(calls.all(), [], 'the provider was not called')
  assert.equal([await stage.service(name), await stage.record(name)], [undefined, undefined])
}

const wouldReserve = `Warning: dry run: an address in ${dialect.place} would be reserved\n`
const ways = [['create'], ['apply'], ['apply', '--server-side']]
for (const verb of ways) {
  test(`kubectl ${verb.join(' ')} --dry-run=server warns what would happen, and reserves nothing`, async () => {
    calls.clear()
    const output = await kubectl([...verb, '--dry-run=server', '-f', '-', '-o', 'json'], loadBalancer('imagined'))
    assert.equal([output.code, output.stderr], [0, wouldReserve])
    const { metadata, spec } = JSON.parse(output.stdout) as Service
    assert.equal([metadata.finalizers, spec.loadBalancerIP], [[finalizer], undefined])
    await nothingHappened('imagined')
  })
}

test('a dry run with generateName warns what would happen, and writes no record', async () => {
  calls.clear()
  const output = await kubectl(['create', '--dry-run=server', '-f', '-'], unnamed('imagined-'))
  assert.equal([output.code, output.stderr], [0, wouldReserve])
  assert.equal(calls.all(), [])
  assert.is((await stage.run('get', 'eip', '-o', 'name')).trim(), '')
})

/** The address of a Service after its last write, which is the condition. */
async function applied(name: string): Promise<string> {
  await stage.run('wait', `service/${name}`, '--for=condition=eip-admission.dev/AddressReady', '--timeout=60s')
  return stage.settled(name)
}

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
    await stage.send(['apply', ...side], loadBalancer(name))
    await applied(name)
    calls.clear()
    const { code, stdout, stderr } = await kubectl(['diff', ...side, '-f', '-'], loadBalancer(name))
    assert.equal([code, stdout, stderr], [0, '', ''])
    const again = await kubectl(['apply', ...side, '-f', '-'], loadBalancer(name))
    assert.is(again.code, 0)
    assert.equal(calls.all(), [])
  })

  test(`kubectl ${how} of a changed Service shows the change alone, and changes nothing`, async () => {
    const name = `changed${side.length}`
    await stage.send(['apply', ...side], loadBalancer(name))
    const address = await applied(name)
    calls.clear()
    const changed = loadBalancer(name, { spec: { selector: { app: 'green' } } })
    const { code, stdout } = await kubectl(['diff', ...side, '-f', '-'], changed)
    assert.is(code, 1)
    const lines = stdout.split('\n').filter((line) => /^[-+] /.test(line) && !/generation:/.test(line))
    assert.equal(lines, [`-    app: ${name}`, '+    app: green'])
    assert.is(await stage.settled(name), address)
    assert.equal(calls.all(), [])
  })
}

test('a dry run of a change to ClusterIP shows what the Service would lose, and changes nothing', async () => {
  await stage.create(loadBalancer('stays'))
  const address = await stage.settled('stays')
  calls.clear()
  const patch = ['patch', 'service', 'stays', '--dry-run=server', '-p', '{"spec":{"type":"ClusterIP"}}', '-o', 'json']
  const { metadata, spec } = JSON.parse(await stage.run(...patch)) as Service
  assert.equal([metadata.annotations?.[shown], spec.loadBalancerIP], [undefined, undefined])
  assert.is(await stage.settled('stays'), address)
  assert.equal(calls.all(), [])
})

test('a dry run of a change to LoadBalancer warns what would happen, and reserves nothing', async () => {
  await stage.create(loadBalancer('plain', { spec: { type: 'ClusterIP' } }))
  calls.clear()
  const output = await kubectl([
    'patch',
    'service',
    'plain',
    '--dry-run=server',
    '-p',
    '{"spec":{"type":"LoadBalancer"}}',
  ])
  assert.equal([output.code, output.stderr], [0, wouldReserve])
  assert.equal(calls.all(), [])
  assert.is(await stage.record('plain'), undefined)
})

test('a dry run of a delete deletes nothing', async () => {
  await stage.create(loadBalancer('spared'))
  const address = await stage.settled('spared')
  await stage.run('delete', 'service', 'spared', '--dry-run=server')
  assert.is(await stage.settled('spared'), address)
})

test.after(() => stage.close())

test.run()
