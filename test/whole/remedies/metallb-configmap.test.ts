// The findings of `doctor` about a MetalLB that reads a ConfigMap, and the remedies that end them. The cluster has its
// workloads, and the test writes as its pods and administrators would.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../eventually.ts'
import { operatorOf } from '../operator.ts'
import { remedyOf } from '../remedies.ts'
import { simulatedNodes } from '../simulated-nodes.ts'
import { openStage } from '../test-stage.ts'
import { becomeReady, hold, install, metallb, namespace } from './announcing.ts'

const stage = await openStage()
const run = (...args: string[]) => stage.run(...args)
const { startNode } = simulatedNodes(stage)
const operator = await operatorOf(stage, {
  env: { METAL_METRO_NAME: 'da' },
  flags: ['--loadbalancer=metallb:///metallb-system?crdConfiguration=true&bgp-peer-mode=frr'],
})

const place = ['configmap', 'settings', '-n', namespace]
const document = () => run('get', ...place, '-o', 'jsonpath={.data.config}')
const write = (config: string) => run('patch', ...place, '--type=merge', '-p', JSON.stringify({ data: { config } }))

const first = await stage.start({ env: operator.settings.env })
await startNode('one')
await startNode('two')
await first.stop()

test('MetalLB without a version in its image, whose ConfigMap is missing', async () => {
  const programs = metallb(`@sha256:${'0'.repeat(64)}`, ['--config=settings'])
  await install(stage, programs)
  await becomeReady(stage, programs)
  await operator.follow(
    remedyOf('metallb-programs', {
      found: [/controller@\S+, which seems to read a ConfigMap only/, /speaker@/],
      words: /^set --loadbalancer=metallb:\/\/\/metallb-system\/settings of `serve`/,
      act: operator.takes('--loadbalancer'),
    }),
  )
  await operator.follow(
    remedyOf('metallb-document', { found: [/ConfigMap metallb-system\/settings does not exist/] }),
    remedyOf('roles', { found: [/lacks rights: get configmaps settings/, /more rights .*: get configmaps config/] }),
  )
})

test('a held address without pool and peers, and one in a pool of a person for layer 2', async () => {
  await operator.serve()
  const web = await hold(stage, 'web')
  const api = await hold(stage, 'api')
  const isWritten = () =>
    eventually('the ConfigMap has both', async (observe) => {
      const config = observe(await document())
      return [web, api].every((address) => config.includes(`${address}/32`)) || undefined
    })
  await isWritten()
  await operator.stop()
  await write(`address-pools:\n- name: person\n  protocol: layer2\n  addresses:\n  - ${web}/32\n  - 198.51.100.0/24\n`)
  await operator.follow(
    remedyOf('announced-addresses', {
      found: [
        /no peers in ConfigMap/,
        /default\/web is in pool "person" for layer2/,
        /default\/api is in no pool for BGP/,
      ],
      words: /take the address out of that pool|`serve` writes its pool|why no node has peers/,
      edit: `/${web}/d`,
      act: operator.serve,
    }),
  )
  await isWritten()
  await operator.stop()
})

test('a ConfigMap that is no YAML, with a part that MetalLB refuses, and with pools that overlap', async () => {
  const good = await document()
  await write(`${good}password: [\n`)
  await operator.follow(remedyOf('metallb-document', { found: [/is not YAML/], edit: '/password: /d' }))
  await write(good.replace('198.51.100.0/24', '198.51.100.7'))
  await operator.follow(
    remedyOf('metallb-document', { found: [/pool person has "198.51.100.7"/], edit: 's|198.51.100.7|&/32|' }),
  )
  await write((await document()).replace('198.51.100.7/32', '203.0.113.0/24'))
  await operator.follow(
    remedyOf('overlapping-pools', {
      found: [/pool "person"/, /pool "person"/],
      words: /take the range out of the pool that eip-admission does not manage/,
      edit: 's|203.0.113.0/24|198.51.100.7/32|',
    }),
  )
  assert.match(await document(), '198.51.100.7/32')
})

test.after(async () => {
  await operator.close()
  await stage.close()
})

test.run()
