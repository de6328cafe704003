// MetalLB's real webhooks review our objects: they may refuse none, whatever clouds and people say.
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, ObjectConfiguration, Problem } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { bgpAdvertisements, bgpPeers, ipAddressPools } from '../../announcers/metallb/resources.ts'
import { configureObjects } from '../../controllers/announcing/configure-objects.ts'
import type { ConfigureResult } from '../../controllers/announcing/configurator.ts'
import type { KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { KubeError } from '../../kube/errors.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { aPeer, aPool, inherited, marks, peoples } from '../announcers/cluster.ts'
import { states } from '../announcers/states.ts'
import { type Context, withRig } from './stage.ts'

const kinds: Resource<KubeObject>[] = [ipAddressPools, bgpPeers, bgpAdvertisements]

const samples = (numRuns: number) =>
  fc.sample(fc.record({ state: states, theirs: peoples, left: inherited }), { numRuns, seed: 5 })

/** How many states each version sees in each mode; the newest keeps the rules of the older ones. */
const rounds = { '0.16.1': 30, '0.13.12': 12 } as const

/** Creates the nodes that the states mention, if they are valid: webhooks check which nodes a peer selects. */
async function joinNodes({ apply }: Context): Promise<void> {
  const hostnames = ['node-a', 'node-b', 'node-c', 'Node_1', '1e3', 'no']
  const items = hostnames.map((hostname, n) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `machine-${n}`, labels: { 'kubernetes.io/hostname': hostname } },
    spec: {},
  }))
  await apply({ apiVersion: 'v1', kind: 'List', items })
}

/** Whether MetalLB accepts an object. Its CRDs refuse a field of a later version before the webhooks review it. */
async function takes(client: KubeClient, object: KubeObject): Promise<boolean> {
  const resource = kinds.find(({ kind }) => kind === object.kind)
  if (!resource) throw new Error(`no resource for ${object.kind}`)
  try {
    await client.apply(resource, object, { fieldManager: 'other' })
    return true
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (error.status === 403 || error.message.includes('field not declared in schema')) return false
    throw error
  }
}

type Deps = { client: KubeClient; configuration: ObjectConfiguration }

/** Writes states one after the other, each over the objects of the previous one, and returns every objection. */
async function carryOutAll({ client, configuration }: Deps, sampled: ReturnType<typeof samples>) {
  const foreseen: Problem[] = []
  const objects: ObjectConfiguration['objects'] = (...seen) => {
    const made = configuration.objects(...seen)
    foreseen.push(...made.problems)
    return made
  }
  // Each read of the clock is a minute after the previous one, so that no wave of changes waits.
  let minutes = 0
  const now = () => (minutes += 1) * 60_000
  const configurator = configureObjects({ client, configuration: { ...configuration, objects }, now })
  const carryOut = async (state: Announcements) => {
    const results: ConfigureResult[] = []
    do results.push(await configurator.carryOut(state, AbortSignal.timeout(30_000)))
    while (results.at(-1)?.isUnfinished && results.length < 30)
    return {
      problems: results.flatMap(({ problems }) => problems),
      isChanged: results.some(({ isChanged }) => isChanged),
    }
  }
  const refused: { message: string; sample: object }[] = []
  let changed = 0
  for (const sample of sampled) {
    const { state, theirs, left } = sample
    for (const object of [...theirs, ...left]) await takes(client, object)
    const { problems, isChanged } = await carryOut(state)
    refused.push(...problems.filter((one) => !foreseen.includes(one)).map(({ message }) => ({ message, sample })))
    if (isChanged) changed += 1
    for (const { kind, metadata } of theirs) {
      const resource = kinds.find((one) => one.kind === kind)
      if (resource) await client.remove(resource, { namespace: marks.namespace, name: metadata.name })
    }
  }
  return { refused, changed }
}

for (const [version, count] of Object.entries(rounds) as [keyof typeof rounds, number][]) {
  for (const mode of ['native', 'frr'] as const) {
    test(`MetalLB ${version} accepts all that we write for ${mode}, in ${count} states beside objects of others`, () =>
      withRig({ version, mode, webhooks: true }, async (context) => {
        await joinNodes(context)
        const client = connect(kubeconfig({ file: context.controlPlane.kubeconfig }), { userAgent: 'rig' })
        const configuration = metallbObjects({ ...marks, peerMode: mode })
        const { refused, changed } = await carryOutAll({ client, configuration }, samples(count))
        assert.equal(refused, [])
        assert.ok(changed > count / 2, `only ${changed} states changed anything`)

        // The webhook does review, and by the rules of its mode.
        const unwell = aPool({ name: 'unwell', addresses: ['203.0.113.300/32'] })
        assert.is(await takes(client, unwell), false)
        const modern = aPeer({ name: 'modern', vrf: 'blue', myASN: 65000, peerASN: 65530, peerAddress: '10.9.9.5' })
        assert.is(await takes(client, modern), mode === 'frr')
      }))
  }
}

test.run()
