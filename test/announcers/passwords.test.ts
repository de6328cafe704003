// The password of BGP sessions reaches the software that speaks with the routers, and no session that has none.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObjectConfiguration } from '../../announcers/announcer.ts'
import { calicoObjects } from '../../announcers/calico/objects.ts'
import { ciliumObjects } from '../../announcers/cilium/objects.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import type { KubeObject, Secret } from '../../kube/objects.ts'
import { marks } from './cluster.ts'
import { makeNode } from './states.ts'

type Specified = KubeObject & { spec?: unknown }

/** How each software is told of one session: the kind that has it, and how that names the Secret. */
const softwares: { name: string; configuration: ObjectConfiguration; kind: string; names: RegExp }[] = [
  {
    name: 'MetalLB',
    configuration: metallbObjects({ ...marks, peerMode: 'native' }),
    kind: 'BGPPeer',
    names: /"passwordSecret":\{"name":"bgp-password"\}/,
  },
  {
    name: 'Cilium',
    configuration: ciliumObjects({ secretsNamespace: 'bgp-secrets' }),
    kind: 'CiliumBGPPeerConfig',
    names: /"authSecretRef":"eip-admission-bgp"/,
  },
  {
    name: 'Calico',
    configuration: calicoObjects({ namespace: 'calico' }),
    kind: 'BGPPeer',
    names: /"password":\{"secretKeyRef":\{"name":"eip-admission-bgp","key":"password"\}\}/,
  },
]

for (const { name, configuration, kind, names } of softwares) {
  const plan = (...nodes: ReturnType<typeof makeNode>[]) => {
    const addresses = [{ address: '198.51.100.7', services: ['default/web'] }]
    const { wanted, problems } = configuration.objects({ addresses, nodes }, [])
    const objects = wanted.map(({ object }) => object as Specified)
    const secret = objects.find((one): one is Secret => one.kind === 'Secret')
    const sessions = objects.filter((one) => one.kind === kind).map(({ spec }) => names.test(JSON.stringify(spec)))
    return { secret, sessions, problems }
  }

  test(`${name} finds the password in its namespace, as the API server encodes it`, () => {
    const { secret, sessions } = plan(makeNode('node-a', { password: 'sécret' }))
    assert.is(secret?.metadata.namespace, configuration.namespace)
    assert.is(Buffer.from(secret?.data?.['password'] ?? '', 'base64').toString(), 'sécret')
    assert.ok(sessions.length > 0 && sessions.every(Boolean))
  })

  test(`${name} has the sessions of a node without a password beside those of one that has it`, () => {
    const { sessions, problems } = plan(makeNode('node-a', { password: 's3cret' }), makeNode('node-b'))
    assert.equal(problems, [])
    assert.is(sessions.filter(Boolean).length, sessions.filter((isProtected) => !isProtected).length)
    assert.ok(sessions.length > 0)
  })
}

test.run()
