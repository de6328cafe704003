// How the cluster and the cloud are read: an API server in memory, and the simulated cloud of each dialect.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Secret } from '../../../kube/objects.ts'
import { isImageOf } from '../../../clouds/dialect/define-dialect.ts'
import { configMaps, namespaces, secrets, services } from '../../../kube/resource.ts'
import { deployments, type Workload } from '../../../kube/workloads.ts'
import type { BgpDialectName } from '../../../sandbox/dialect-names.ts'
import { dialects } from '../../../sandbox/dialects.ts'
import { predecessors } from '../../../inspect/predecessors.ts'
import { remedyText } from '../../../lib/remedy.ts'
import { End } from '../../../commands/takeover/end.ts'
import { readPlan } from '../../../commands/takeover/plan/read-plan.ts'
import { formatPlan } from '../../../commands/takeover/report/plan-report.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { dialectOf, serviceTag } from '../../whole/dialects.ts'

type Succeeding = Exclude<BgpDialectName, 'phoenixnap'>

const images: Record<Succeeding, string> = {
  'equinix-metal': 'ghcr.io/siderolabs/cloud-provider-equinix-metal:v3.8.1-1',
  packet: 'packethost/packet-ccm:v1.1.0',
  'cherry-servers': 'ghcr.io/cherryservers/cloud-provider-cherry:main',
}

/** Nobody listens there: what only a real API server can say is not read. */
const credentials = { server: 'https://127.0.0.1:1', headers: async () => ({}), ca: undefined } as never

const uid = 'cluster-uid'

/** A cluster that the predecessor of a dialect runs, and its cloud. */
async function scene(name: Succeeding) {
  const { cloud, project, token } = await dialects[name].open()
  const dialect = dialectOf(name)
  const predecessor = predecessors.find((one) => one.dialect === name && isImageOf(one, images[name]))
  assert.ok(predecessor)
  const server = apiServer()
  const { client, writes } = server
  const { workload, secret } = predecessor
  const flag = name === 'packet' ? '--provider-config' : '--cloud-config'
  const program: Workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...workload, uid: 'u' },
    spec: {
      replicas: 1,
      template: {
        spec: {
          containers: [
            {
              image: images[name],
              command: ['./ccm', '--leader-elect=false', `${flag}=/etc/cloud-sa/cloud-sa.json`],
              volumeMounts: [{ name: 'sa', mountPath: '/etc/cloud-sa' }],
            },
          ],
          volumes: [{ name: 'sa', secret: { secretName: secret.name } }],
        },
      },
    },
  }
  server.put(deployments, program)
  server.put(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid } })
  const file = (more: object = {}) => {
    const text = JSON.stringify({ apiKey: token, projectID: project, 'base-url': cloud.url, ...more })
    const { namespace, name: secretName, key } = secret
    const object: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: secretName },
      data: { [key]: Buffer.from(text).toString('base64') },
    }
    server.put(secrets, object)
  }
  file({ loadbalancer: 'empty://' })
  const marks = [
    dialect.usage,
    serviceTag(dialect, 'default/web'),
    ...(dialect.adoptsUnmarked ? [] : [`cluster=${uid}`]),
  ]
  const { id, address } = await dialect.order({ url: cloud.url, project, token }, marks)
  /** A reservation that the predecessor left when it lost its Service. */
  const leave = () =>
    dialect.order({ url: cloud.url, project, token }, [
      dialect.usage,
      serviceTag(dialect, 'default/gone'),
      ...(dialect.adoptsUnmarked ? [] : [`cluster=${uid}`]),
    ])
  server.put(
    services,
    makeService({ loadBalancerIP: address, status: { loadBalancer: { ingress: [{ ip: address }] } } }),
  )
  cloud.control.calls.clear()
  const { signal } = new AbortController()
  const read = (flags: Record<string, string> = {}) =>
    readPlan({
      reader: client,
      isAdministrator: async () => true,
      credentials,
      userAgent: 'test',
      env: {},
      flags,
      signal,
    })
  /** Writes what a takeover that was started has recorded. */
  const record = (data: Record<'state' | 'step' | 'found', string>) =>
    void server.put(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'eip-admission', name: 'eip-admission-takeover' },
      data: { formatVersion: '1', ...data },
    })
  return { cloud, token, read, file, record, server, writes, predecessor, id, address, leave }
}

for (const name of ['equinix-metal', 'packet', 'cherry-servers'] as const)
  test(`${name}: the plan keeps every address, and nothing is written`, async () => {
    const { cloud, token, read, writes, predecessor, id, address } = await scene(name)
    try {
      const { plan, secretFile } = await read()
      assert.is(plan.predecessor.id, predecessor.id)
      assert.equal(
        plan.services.map(({ before, after, held, reservationID }) => [before, after, held, reservationID]),
        [[address, address, 'reserved', id]],
      )
      assert.equal(
        plan.reservations.map(({ whose, action }) => [whose, action]),
        [['service', name === 'packet' ? 'mark' : 'adopt']],
      )
      assert.equal(
        plan.blockers.map(({ reason, where }) => `${reason} ${where}`),
        ['unread server'],
      )
      assert.is(plan.predecessor.lease.isUsed, false)
      assert.match(secretFile, token)
      assert.not.match(JSON.stringify(plan) + formatPlan(plan, 'text'), token)
      assert.equal(writes, [])
      assert.ok(cloud.control.calls.all().every(({ method }) => method === 'GET'))
    } finally {
      await cloud.close()
    }
  })

for (const name of ['equinix-metal', 'packet', 'cherry-servers'] as const)
  test(`${name}: what the predecessor left behind stays until a person decides`, async () => {
    const { cloud, read, leave } = await scene(name)
    try {
      const left = await leave()
      const { plan } = await read()
      const found = plan.reservations.find(({ id }) => id === left.id)
      const isPacket = name === 'packet'
      assert.equal([found?.whose, found?.action], [isPacket ? 'untagged' : 'orphan', 'keep'])
      assert.is(plan.settings.flags['--sweep'], isPacket ? undefined : 'report')
    } finally {
      await cloud.close()
    }
  })

test('wrong settings are named without their values, and a file of the person takes their place', async () => {
  const { cloud, read, file, record, server, predecessor } = await scene('equinix-metal')
  try {
    file({ loadbalancer: 'tokens-in-the-wrong-field' })
    const ended = async () => (await read().catch((error: unknown) => error)) as End
    const { state, blockers: findings } = await ended()
    assert.is(state, 'blocked')
    assert.equal(
      findings.map(({ reason, where }) => [reason, where]),
      [['setting', 'load balancer']],
    )
    assert.match(findings[0]?.what ?? '', 'the field loadbalancer of Secret kube-system/metal-cloud-config')
    assert.not.match(JSON.stringify(findings), 'tokens-in-the-wrong-field')
    const { plan } = await read({ '--loadbalancer': 'empty://', '--max-addresses': '9' })
    assert.equal(plan.settings.flags, { '--loadbalancer': 'empty://', '--max-addresses': '9' })
    record({
      state: 'applied',
      step: '{"name":"verify","title":"Verify","number":6,"of":6}',
      found: '{"predecessor":"equinix-metal","workloads":[],"services":{}}',
    })
    const begun = (await read({ '--loadbalancer': 'empty://' })).plan
    assert.is(begun.status?.recorded, 'applied')
    assert.equal(
      begun.warnings.map(({ reason }) => reason),
      ['no-location'],
    )
    assert.is(begun.settings.source?.name, predecessor.secret.name)
    server.drop(deployments, predecessor.workload)
    const removed = await ended()
    const [gone] = removed.blockers
    assert.equal([removed.state, gone?.reason], ['blocked', 'predecessor-gone'])
    assert.match(remedyText(gone?.remedy ?? ''), 'kubectl delete configmap -n eip-admission eip-admission-takeover')
  } finally {
    await cloud.close()
  }
})

for (const image of [images['equinix-metal'], images['cherry-servers']])
  test(`a takeover that continues reads its settings from what ran, not from a stopped ${image}`, async () => {
    const { cloud, read, record, server, predecessor } = await scene('equinix-metal')
    try {
      const [ran] = server.stored(deployments)
      assert.ok(ran)
      server.put(deployments, { ...ran, spec: { ...ran.spec, replicas: 0 } })
      server.put(deployments, {
        ...ran,
        // The first one by its name.
        metadata: { ...predecessor.workload, name: 'a', uid: 'a' },
        spec: {
          replicas: 0,
          template: { spec: { containers: [{ image, command: ['./ccm', '--leader-elect=true'] }] } },
        },
      })
      const workloads = [
        { kind: 'Deployment', ...predecessor.workload, name: 'a', isRunning: false },
        { kind: 'Deployment', ...predecessor.workload, isRunning: true },
      ]
      record({
        state: 'applying',
        step: '{"name":"lead","title":"Lead","number":4,"of":6}',
        found: JSON.stringify({ predecessor: predecessor.id, workloads, services: {} }),
      })
      const { plan } = await read()
      assert.equal([plan.predecessor.id, plan.predecessor.lease.isUsed], [predecessor.id, false])
      assert.is(plan.settings.source?.name, predecessor.secret.name)
    } finally {
      await cloud.close()
    }
  })

test.run()
