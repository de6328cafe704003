// The findings of `doctor` about MetalLB, and the remedies that end them. The cluster has MetalLB's CRDs and workloads;
// the test writes what its pods would report.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metallbDefinitions } from '../../../sandbox/metallb/build.ts'
import { crdManifest } from '../../../sandbox/rig/metallb-definitions.ts'
import { eventually } from '../eventually.ts'
import { operatorOf } from '../operator.ts'
import { remedyOf } from '../remedies.ts'
import { simulatedNodes } from '../simulated-nodes.ts'
import { openStage } from '../test-stage.ts'
import { becomeReady, hold, install, kubeVip, metallb, namespace } from './announcing.ts'
import { remedyText } from '../../../lib/remedy.ts'

const stage = await openStage()
const { kubectl } = stage
const run = (...args: string[]) => stage.run(...args)
const { startNode } = simulatedNodes(stage)
const ofMetallb = 'example.com/metallb'
const operator = await operatorOf(stage, {
  env: { METAL_METRO_NAME: 'da' },
  flags: ['--loadbalancer=metallb:///elsewhere/config'],
})

const createObject = (kind: string, name: string, more: object = {}) =>
  stage.create({ apiVersion: 'metallb.io/v1beta1', kind, metadata: { name, namespace }, ...more })
const patchStatus = (where: string[], status: object) =>
  run('patch', ...where, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))

/** Reports a Service as announced, as a speaker would. */
async function announce(name: string): Promise<void> {
  await createObject('ServiceBGPStatus', name)
  const status = { node: 'one', serviceName: name, serviceNamespace: 'default', peers: ['one-0'] }
  await patchStatus(['servicebgpstatus', name, '-n', namespace], status)
}

/** Writes the status of a Service as MetalLB would. */
const show = (name: string, ip: string) => patchStatus(['service', name], { loadBalancer: { ingress: [{ ip }] } })

const first = await stage.start({ env: operator.settings.env })
await startNode('one')
await startNode('two')
await first.stop()

test('MetalLB of another namespace, form and class, whose definitions the API server refuses', async () => {
  const [older, newest] = [await metallbDefinitions('0.13.12'), await metallbDefinitions('0.16.1')]
  const refused = readFileSync(join(older.crds, 'metallb.io_bgppeers.yaml'), 'utf8')
  for (const manifest of [crdManifest(newest), refused]) {
    const { code, stderr } = await kubectl(['apply', '--server-side', '-f', '-'], manifest)
    assert.is(code, 0, stderr)
  }
  const programs = metallb(':v0.15.3', [`--lb-class=${ofMetallb}`])
  const missing = (await operator.results()).find(({ check }) => check === 'metallb-programs')
  assert.match(remedyText(missing?.fix ?? ''), /grep -i metallb {3}# if there is none, install MetalLB$/)
  await install(stage, programs)
  await operator.follow(
    remedyOf('metallb-programs', {
      found: [
        /runs in namespace metallb-system, and the load balancer setting names elsewhere/,
        /controller:v0.15.3, which reads custom resources only/,
        /speaker:v0.15.3, which reads custom resources only/,
        /Deployment .* has 0 of 1 pods ready/,
        /DaemonSet .* has 0 of 0 pods ready/,
      ],
      words: /^set --loadbalancer=metallb:\/\/\/metallb-system\?crdConfiguration=true of `serve`|describe/,
      async act(fixes) {
        operator.takes('--loadbalancer')(fixes)
        await becomeReady(stage, programs)
      },
    }),
    remedyOf('metallb-class', {
      found: [/Deployment .* announces Services of the class example.com\/metallb/, /DaemonSet/],
      words: /^set --load-balancer-class=example.com\/metallb of `serve` and `install`/,
      act: operator.takes('--load-balancer-class'),
    }),
    remedyOf('metallb-definitions', { found: [/bgppeers.metallb.io: .* has format int32/] }),
  )
  await operator.follow(
    remedyOf('reviewed-classes', { found: [/is not the one of this version for --load-balancer-class/] }),
  )
})

test('programs of MetalLB that announce two classes', async () => {
  const path = '/spec/template/spec/containers/0/args'
  const args = (name: string) => JSON.stringify([{ op: 'replace', path, value: [`--lb-class=${name}`] }])
  const patch = (name: string) => run('patch', 'daemonset', 'speaker', '-n', namespace, '--type=json', '-p', args(name))
  await patch('example.com/other')
  await operator.follow(
    remedyOf('metallb-class', {
      found: [/DaemonSet .* announces Services of the class example.com\/other/],
      words: /^give both programs of MetalLB the same class: --lb-class=example.com\/metallb/,
      act: () => patch(ofMetallb),
    }),
  )
})

test('nodes that the label of kubeadm keeps from announcing', async () => {
  await run('label', 'nodes', 'one', 'two', 'node.kubernetes.io/exclude-from-external-load-balancers=')
  await operator.follow(
    remedyOf('excluded-nodes', { found: [/every node of DaemonSet metallb-system\/speaker has the label/] }),
  )
})

test('pools that overlap, addresses that no advertisement has, and a MetalLB that is silent', async () => {
  await operator.serve()
  const [web, api] = [await hold(stage, 'web', ofMetallb), await hold(stage, 'api', ofMetallb)]
  const names = (kind: string) => run('get', `${kind}.metallb.io`, '-n', namespace, '-o', 'name')
  await eventually('MetalLB is configured', async (observe) => {
    const [pools, peers] = observe([await names('ipaddresspools'), await names('bgppeers')])
    return (pools.includes(web) && pools.includes(api) && peers !== '') || undefined
  })
  await operator.stop()
  await createObject('IPAddressPool', 'person', { spec: { addresses: [`${web}/32`, '198.51.100.0/24'] } })
  await run('delete', 'bgppeers.metallb.io,bgpadvertisements.metallb.io', '--all', '-n', namespace)
  await run('delete', 'ipaddresspool.metallb.io', api, '-n', namespace)
  await createObject('ConfigurationState', 'controller')
  const report = (result: string) =>
    patchStatus(['configurationstate', 'controller', '-n', namespace], { result, errorSummary: 'pools overlap' })
  await report('Invalid')
  await operator.follow(
    remedyOf('overlapping-pools', {
      found: [/IPAddressPool metallb-system\/person share addresses/],
      words: /take the range out of this pool/,
      edit: `/${web}/d`,
    }),
    remedyOf('metallb-reports', {
      found: [/ConfigurationState metallb-system\/controller: pools overlap/],
      words: /^kubectl --kubeconfig=\S+ describe configurationstate/,
      act: () => report('Valid'),
    }),
    remedyOf('announced-addresses', {
      found: [/MetalLB has no BGPPeer/, /no BGPAdvertisement selects its pool/, /api is in no IPAddressPool/],
      words: /`serve` writes them|why no node has peers/,
      act: operator.serve,
    }),
    remedyOf('silent-announcer', {
      found: [/Service default\/web holds/, /Service default\/api holds/],
      words: /its Events, and those of the announcing software/,
      act: () => Promise.all([show('web', web), show('api', api)]),
    }),
    remedyOf('speakers', {
      found: [/no speaker of MetalLB announces .* default\/web/, /default\/api/],
      words: /a ready endpoint is needed/,
      act: () => Promise.all([announce('web'), announce('api')]),
    }),
  )
})

test('kube-vip of a release that has no peers, without its settings, beside the sessions of MetalLB', async () => {
  await operator.stop()
  operator.setFlag('--loadbalancer=kube-vip://')
  const missing = (await operator.results()).find(({ check }) => check === 'kube-vip')
  assert.match(remedyText(missing?.fix ?? ''), /grep -i kube-vip {3}# if there is none, install kube-vip$/)
  const programs = [kubeVip(':v1.1.2')]
  await install(stage, programs)
  await operator.follow(
    remedyOf('one-speaker', {
      found: [/one\.169.254.255.1 of MetalLB/, /one\.169.254.255.2/, /two\.169.254.255.1/, /two\.169.254.255.2/],
    }),
    remedyOf('served-classes', {
      found: [/kube-vip announces no Services of the class example.com\/metallb/],
      words: /^set --load-balancer-class=none of `serve` and `install`; kube-vip announces none and kube-vip.io/,
      act: operator.takes('--load-balancer-class'),
    }),
    remedyOf('kube-vip', {
      found: [/runs \S+:v1.1.2/, /svc_enable is not set/, /bgp_enable/, /annotation/, /0 of 0 pods ready/],
      words: /^kubectl/,
      act: () => becomeReady(stage, programs),
    }),
  )
  await operator.follow(
    remedyOf('reviewed-classes', { found: [/is not the one of this version for --load-balancer-class/] }),
  )
})

test.after(async () => {
  await operator.close()
  await stage.close()
})

test.run()
