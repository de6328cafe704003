import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import type { PeerMode } from '../../announcers/setting.ts'
import { type ObjectChange, planChanges } from '../../controllers/announcing/plan-changes.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { runs } from '../property-runs.ts'
import { inherited, marks, peoples } from './cluster.ts'
import { type LabelledNode, type Rules, stateProblems } from './metallb-rules.ts'
import { reordered, states } from './states.ts'

const modes: { peerMode: PeerMode; rules: Rules }[] = [
  { peerMode: 'native', rules: 'native' },
  { peerMode: 'frr', rules: 'frr-old' },
  { peerMode: 'frr', rules: 'frr-new' },
  { peerMode: 'none', rules: 'native' },
  { peerMode: 'none', rules: 'frr-old' },
]

function configured(peerMode: PeerMode) {
  const configuration = metallbObjects({ ...marks, peerMode })
  const all = (state: Announcements, existing: KubeObject[]) => configuration.objects(state, existing)
  const objects = (state: Announcements, existing: KubeObject[]) =>
    all(state, existing).wanted.map(({ object }) => object)
  const isStray = (one: KubeObject, wanted: KubeObject[]) =>
    configuration.isOurs(one) && !wanted.some((other) => isSame(one, other))
  const plan = (state: Announcements, existing: KubeObject[]) =>
    planChanges(configuration, existing, all(state, existing).wanted)
  return { all, objects, isStray, plan }
}

function isSame(one: KubeObject, other: KubeObject): boolean {
  return one.kind === other.kind && one.metadata.name === other.metadata.name
}

type Stored = KubeObject & { spec?: object }

/** The cluster after an object was written: labels add up, a field of spec that is not said stays, null removes one. */
function applied(existing: Stored[], object: Stored): Stored[] {
  const known = existing.find((one) => isSame(one, object))
  const labels = { ...known?.metadata.labels, ...object.metadata.labels }
  const spec = Object.entries({ ...known?.spec, ...object.spec }).filter(([, value]) => value !== null)
  const merged = {
    ...known,
    ...object,
    metadata: { ...object.metadata, labels },
    spec: Object.fromEntries(spec),
  }
  return [...existing.filter((one) => one !== known), merged]
}

/** The cluster after a change, and whether MetalLB refused it: it judges what is written, and no removal. */
function changed(existing: Stored[], change: ObjectChange, problemsOf: (objects: Stored[]) => string[]) {
  if ('remove' in change) return { now: existing.filter((one) => !isSame(one, change.remove)), problems: [] }
  const next = applied(existing, change.write.object)
  const problems = problemsOf(next)
  return { now: problems.length === 0 ? next : existing, problems }
}

function nodesOf(...seen: Announcements[]): LabelledNode[] {
  const hostnames = seen.flatMap(({ nodes }) => nodes.map(({ hostname }) => hostname))
  return hostnames.map((hostname) => ({ labels: { 'kubernetes.io/hostname': hostname } }))
}

for (const { peerMode, rules } of modes) {
  const { isStray, objects, plan } = configured(peerMode)

  test(`whatever is wanted and there, none of our writes for ${peerMode} is refused by MetalLB (${rules})`, () => {
    let tried = 0
    const property = fc.property(states, states, fc.tuple(peoples, peoples, inherited), (before, after, others) => {
      const [foreign, later, left] = others
      const nodes = nodesOf(before, after)
      const problemsOf = (seen: KubeObject[]) => stateProblems(seen, rules, nodes)
      const begun = objects(before, [...foreign, ...left]).reduce(applied, [...foreign, ...left])
      let now = later.reduce(
        applied,
        begun.filter((one) => !isStray(one, objects(before, begun)) || left.includes(one)),
      )
      fc.pre(problemsOf([...foreign, ...later]).length === 0)
      fc.pre(problemsOf(now.filter((one) => !isStray(one, objects(after, now)))).length === 0)
      tried += 1
      // We wrote nothing of what MetalLB refused before.
      const isSound = problemsOf(now).length === 0
      for (let passes = 0; ; passes += 1) {
        assert.ok(passes < 30, 'it comes to an end')
        const { first, waves, last, isHolding } = plan(after, now)
        const changes = [...first, ...(waves[0] ?? []), ...(isHolding || waves.length > 1 ? [] : [last])].flat()
        if (changes.length === 0) break
        for (const change of changes) {
          const next = changed(now, change, problemsOf)
          if (isSound) assert.equal(next.problems, [], JSON.stringify(change))
          now = next.now
        }
      }
      assert.equal(problemsOf(now), [])
    })
    const { numRuns, seed } = runs(100)
    fc.assert(property, { numRuns, seed })
    assert.ok(tried > numRuns / 2, `${tried} tried`)
  })
}

test('the order of the state changes nothing', () => {
  for (const peerMode of ['native', 'frr'] as const) {
    const { all } = configured(peerMode)
    const pairs = states.chain((state) => fc.tuple(fc.constant(state), reordered(state), peoples))
    fc.assert(
      fc.property(pairs, ([state, other, existing]) => {
        assert.equal(all(other, existing), all(state, existing))
      }),
      runs(50),
    )
  }
})

test('without an address no object is wanted, and no object is wanted twice', () => {
  const { objects } = configured('native')
  fc.assert(
    fc.property(states, peoples, (state, existing) => {
      assert.equal(objects({ ...state, addresses: [] }, existing), [])
      const names = objects(state, existing).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      assert.is(new Set(names).size, names.length)
    }),
    runs(50),
  )
})

test.run()
