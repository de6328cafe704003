// Which guardian a process has by its settings. The API server is scripted, the cloud simulated.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetalBalancers } from '../../../clouds/equinix-metal/balancers/client.ts'
import type { EndpointSlice, Node, NodeAddress } from '../../../kube/objects.ts'
import { Secret } from '../../../lib/secret.ts'
import { dialects } from '../../../sandbox/dialects.ts'
import { controlPlaneGuardian } from '../../../controllers/control-plane/control-plane-guardian.ts'
import { withServer } from '../../kube/scripted-server.ts'
import { selfSigned } from '../../kube/self-signed.ts'
import { balancersOf } from '../../whole/balancer-view.ts'
import { eventually } from '../../whole/eventually.ts'
import { baseWith, kubeconfigs, quietServer } from '../../server/quiet-server.ts'

const kubeconfig = kubeconfigs()
const { cloud, project, token } = await dialects['equinix-metal'].open()
const access = { ...dialects['equinix-metal'].env({ url: cloud.url, project, token }), METAL_METRO_NAME: 'da' }
const { signal } = new AbortController()
const id = await equinixMetalBalancers({
  apiKey: new Secret(token),
  projectId: project,
  userAgent: 'test',
  baseUrl: `${cloud.url}/lb`,
  tokensUrl: `${cloud.url}/iam`,
}).create({ name: 'control plane', location: 'da' }, signal)

type Options = { env: Record<string, string>; url?: string; ends?: AbortSignal }

async function guardianWith({ env, url = 'http://127.0.0.1:1', ends = signal }: Options) {
  const flags = {
    '--cloud-provider': 'equinixmetal',
    '--kubeconfig': kubeconfig.for(url),
    '--base-url': cloud.url,
    '--control-plane-probe-interval': '200ms',
    '--control-plane-probe-successes': '1',
  }
  return controlPlaneGuardian(await baseWith({ flags, env: { ...access, ...env }, signal: ends }))
}

const balancer = { METAL_LOAD_BALANCER_ID: id, METAL_LOAD_BALANCER: 'emlb:///da' }
const rows: [env: Record<string, string>, what: string, guarded: string | undefined][] = [
  [{}, 'nothing', undefined],
  [{ METAL_LOAD_BALANCER: 'emlb:///da' }, 'nothing', undefined],
  [{ METAL_LOAD_BALANCER_ID: id }, 'nothing', undefined],
  [{ METAL_EIP_TAG: 'cp' }, 'an address', 'tag cp'],
  [balancer, 'the load balancer', `load balancer ${id}`],
  [{ ...balancer, METAL_EIP_TAG: 'cp' }, 'the load balancer', `load balancer ${id}`],
]
for (const [env, what, guarded] of rows)
  test(`with ${Object.keys(env).join(' and ') || 'no setting'} the guardian guards ${what}`, async () =>
    assert.is((await guardianWith({ env }))?.facts().name, guarded))

/** A node whose API server listens here, and what `default/kubernetes` publishes of it. */
function controlPlaneAt(port: number): { nodes: Node[]; endpointslices: EndpointSlice[] } {
  const addresses: NodeAddress[] = [
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'ExternalIP', address: '198.51.100.1' },
  ]
  return {
    nodes: [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'cp-a', uid: 'a' }, spec: {}, status: { addresses } }],
    endpointslices: [
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'kubernetes', namespace: 'default', uid: 'b' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['127.0.0.1'] }],
        ports: [{ name: 'https', port }],
      },
    ],
  }
}

test('a named balancer gets the control-plane nodes that answer as its origins, at the port of the setting', async () => {
  const apiServer = createServer(selfSigned('127.0.0.1'), (_request, response) => response.end('ok'))
  await once(apiServer.listen(0, '127.0.0.1'), 'listening')
  const { port } = apiServer.address() as AddressInfo
  await withServer(quietServer(controlPlaneAt(port)).respond, async ({ url }) => {
    const ends = new AbortController()
    const guardian = await guardianWith({
      env: { ...balancer, METAL_API_SERVER_PORT: '443' },
      url,
      ends: ends.signal,
    })
    const running = guardian?.run(ends.signal)
    try {
      const origin = `198.51.100.1:${port}`
      await eventually('the node is its origin', (observe) =>
        observe(balancersOf({ cloud })[0]?.ports[443])?.includes(origin) ? true : undefined,
      )
    } finally {
      ends.abort()
      await running
      apiServer.close()
    }
  })
})

test.after(async () => {
  await cloud.close()
  kubeconfig.remove()
})

test.run()
