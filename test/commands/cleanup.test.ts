import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cleanup } from '../../commands/cleanup.ts'
import { makeRecord, makeService } from '../builders.ts'
import { withCluster } from '../kube/scripted-cluster.ts'

/** The output of cleanup about a cluster. */
async function printed(of: { kubeconfig: string; yes: boolean; env?: Record<string, string> }): Promise<string> {
  const { env = {}, ...settings } = of
  let output = ''
  const print = (text: string) => void (output += text)
  const { signal } = new AbortController()
  const clock = { sleep: () => Promise.resolve() }
  await cleanup(
    { ...settings, apiServer: undefined },
    { env, version: 'test', print, signal, endAtOnce: () => {}, clock },
  )
  return output
}

test('the commands that cleanup prints are for the cluster of its kubeconfig', () =>
  withCluster({}, async (kubeconfig) => {
    const planned = await printed({ kubeconfig, yes: false })
    assert.match(planned, `run \`eip-admission cleanup --kubeconfig=${kubeconfig} --yes\`.`)
    assert.match(planned, 'first stop every `eip-admission serve`')
    const done = await printed({ kubeconfig, yes: true })
    assert.match(
      done,
      `\`kubectl --kubeconfig=${kubeconfig} delete customresourcedefinition elasticips.eip-admission.dev\``,
    )
    const here = await printed({ kubeconfig, yes: false, env: { KUBECONFIG: kubeconfig } })
    assert.match(here, 'run `eip-admission cleanup --yes`.')
  }))

const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const finalizers = ['example.com/theirs', 'eip-admission.dev/address-cleanup', upstream]
const both = `eip-admission.dev/address-cleanup and ${upstream} from Service`
const record = { metadata: { name: 'eip-admission-takeover', namespace: 'eip-admission' } }
const taken = { services: [makeService({ finalizers })] }

const mirror = makeService({
  namespace: 'kube-system',
  name: 'eip-admission-kubernetes-external',
  loadBalancerClass: 'eip-admission.dev/control-plane',
})

test('the Service that mirrors the API servers is deleted, unless `takeover undo` may need it', async () => {
  const deletion = 'would delete Service kube-system/eip-admission-kubernetes-external, which mirrors the API servers'
  await withCluster({ services: [mirror] }, async (kubeconfig) => {
    assert.match(await printed({ kubeconfig, yes: false }), deletion)
  })
  await withCluster({ services: [mirror], configmaps: [record] }, async (kubeconfig) => {
    assert.not.match(await printed({ kubeconfig, yes: false }), deletion)
  })
})

test('a ConfigMap of another name records no takeover', () =>
  withCluster({ ...taken, configmaps: [{ metadata: { ...record.metadata, name: 'other' } }] }, async (kubeconfig) => {
    assert.match(await printed({ kubeconfig, yes: false }), `would remove the finalizer ${both} default/web`)
  }))

test("a predecessor's finalizer goes with ours", () =>
  withCluster(taken, async (kubeconfig) => {
    const output = await printed({ kubeconfig, yes: false })
    assert.match(output, `would remove the finalizer ${both} default/web`)
    assert.not.match(output, 'stays on these Services')
  }))

for (const { name, configmaps } of [
  { name: 'is recorded', configmaps: [record] },
  { name: 'may be recorded where nobody may look', configmaps: 'forbidden' as const },
])
  test(`a predecessor's finalizer stays while a takeover ${name}, with the command that removes it`, () =>
    withCluster({ ...taken, configmaps }, async (kubeconfig) => {
      const output = await printed({ kubeconfig, yes: false })
      assert.match(output, 'would remove the finalizer eip-admission.dev/address-cleanup from Service default/web')
      assert.match(output, `The finalizer ${upstream} stays on these Services`)
      assert.match(
        output,
        `kubectl --kubeconfig=${kubeconfig} patch service -n default web --type=merge -p '{"metadata":{"finalizers":["example.com/theirs"]}}'`,
      )
    }))

test("the finalizer of a Service of a class is another controller's, and so is that of one without ours", () => {
  const classed = makeService({ name: 'classed', finalizers, loadBalancerClass: 'example.com/lb' })
  const theirs = makeService({ name: 'theirs', finalizers: [upstream] })
  return withCluster({ services: [classed, theirs] }, async (kubeconfig) => {
    const output = await printed({ kubeconfig, yes: false })
    assert.match(output, 'would remove the finalizer eip-admission.dev/address-cleanup from Service default/classed')
    assert.not.match(output, upstream)
  })
})

test('only finalizers of ours go, and only from what is as cleanup has read it', () => {
  const theirs = 'example.com/theirs'
  const service = makeService({ finalizers: [theirs, 'eip-admission.dev/address-cleanup'], resourceVersion: '7' })
  const record = makeRecord({ phase: 'Bound' })
  const finalizers = [theirs, ...(record.metadata.finalizers ?? [])]
  const lists = {
    services: [service],
    elasticips: [{ ...record, metadata: { ...record.metadata, finalizers, resourceVersion: '8' } }],
  }
  return withCluster(lists, async (kubeconfig, requests) => {
    // This cluster only lists, so the finalizers seem to come back.
    const error = await printed({ kubeconfig, yes: true }).catch(String)
    assert.match(error, 'is still running')
    // The API server refuses a patch with another version: somebody may have added a finalizer meanwhile.
    assert.equal(
      requests.filter(({ method }) => method === 'PATCH').map(({ path, body }) => [path.split('/').at(-1), body]),
      [
        ['web', { metadata: { resourceVersion: '7', finalizers: [theirs] } }],
        ['default.web', { metadata: { resourceVersion: '8', finalizers: [theirs] } }],
      ],
    )
  })
})

test('a second cleanup changes nothing, and still names all that costs money', () => {
  const record = makeRecord({ phase: 'Bound', address: '203.0.113.40', reservationID: 'res-1' })
  const annotations = { 'equinix.com/loadbalancerID': 'balancer-1' }
  const lists = {
    elasticips: [{ ...record, metadata: { ...record.metadata, finalizers: [] } }],
    services: [makeService({ annotations })],
  }
  return withCluster(lists, async (kubeconfig) => {
    const output = await printed({ kubeconfig, yes: false })
    assert.not.match(output, 'finalizer')
    assert.match(output, '  203.0.113.40  default.web  res-1\n')
    assert.match(output, '  balancer-1  Service default/web\n')
  })
})

test.run()
