// A second installation: `install` refuses it, and the first one reports one that was forced.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runProduct } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const product = await stage.startSwept({ env: { METAL_METRO_NAME: 'da' } })
const install = ['install', `--kubeconfig=${stage.controlPlane.kubeconfig}`, `--webhook-url=${stage.webhookUrl}`]
const inTwo = [...install, '--namespace=two']
const readyz = async () => (await product.health('/readyz')).text

/** The namespace whose process has the rights. */
const owner = () => stage.run('get', 'clusterrolebinding', 'eip-admission', '-o', 'jsonpath={.subjects[0].namespace}')

test('install into a second namespace changes nothing and names the first one', async () => {
  const refused = await runProduct(inTwo).then(
    () => assert.unreachable('it was not refused'),
    (error: Error) => error.message,
  )
  assert.match(String(refused), 'eip-admission is installed in namespace eip-admission')
  assert.is(await owner(), 'eip-admission')
  assert.is((await stage.kubectl(['get', 'namespace', 'two'])).code, 1)
})

test('install into the same namespace continues, and the process misses no right', async () => {
  await runProduct(install)
  await stage.create(loadBalancer('web'))
  await stage.settled('web')
  assert.not.match(await readyz(), /rights/)
  assert.match((await product.health('/metrics')).text, /^eip_admission_missing_rights 0$/m)
})

/** Waits until /readyz says this about rights. */
const saidOfRights = (words: RegExp) =>
  eventually('/readyz reports the rights', async (observe) => words.test(observe(await readyz())) || undefined)

test('a process whose rights a second installation took reports that in /readyz and a metric', async () => {
  await runProduct([...inTwo, '--overwrite'])
  assert.is(await owner(), 'two')
  await stage.run('delete', 'service', 'web', '--wait=false')
  await saidOfRights(
    /^\[!\] rights: the API server denies this process the right to \w+ .*a cluster can have only one installation$/m,
  )
  assert.match((await product.health('/metrics')).text, /^eip_admission_missing_rights [1-9]/m)
})

test('the rights come back with an install into the first namespace, and the former leader releases at once', async () => {
  await eventually('the process has lost the lease', async (observe) => {
    const { text } = await product.health('/metrics')
    return observe(/^eip_admission_leader (.*)$/m.exec(text)?.[1]) === '0' || undefined
  })
  await runProduct([...install, '--overwrite'])
  await stage.gone('web')
})

test('a single right that is missing is an Event as well', async () => {
  const operations = [
    { op: 'test', path: '/rules/1/resources/0', value: 'services/status' },
    { op: 'remove', path: '/rules/1' },
  ]
  await stage.run('patch', 'clusterrole', 'eip-admission', '--type=json', '-p', JSON.stringify(operations))
  await stage.create(loadBalancer('late'))
  await eventually('an Event names it', async (observe) => {
    const ours = ['get', 'events', '-A', '--field-selector=reason=RightMissing', '-o', 'jsonpath={.items[*].message}']
    return observe(await stage.run(...ours)).includes('patch services/status in namespace default') || undefined
  })
  await saidOfRights(/^\[!\] rights:/m)
  await runProduct(install)
  await stage.settled('late')
})

// The log contains missing rights on purpose.
test.after(() => stage.stop())

test.run()
