import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { peeringPlan, type PeeringSeen, type PeeringStep } from '../../../controllers/peering/node-peering-plan.ts'
import type { Node } from '../../../kube/objects.ts'
import { makeNode } from '../nodes/builders.ts'
import { annotated, makeFact, scheme } from './builders.ts'
import { testRows } from '../../drawn-rows.ts'

const node = (annotations?: Record<string, string>, labels?: Record<string, string>): Node => {
  const made = makeNode({ providerID: 'equinixmetal://m-1', ...(labels && { labels }) })
  return { ...made, metadata: { ...made.metadata, ...(annotations && { annotations }) } }
}
const settled: PeeringSeen = {
  node: node({ ...annotated, other: 'kept' }),
  providerId: { kind: 'machine', id: 'm-1' },
  isSelected: true,
  fact: makeFact(),
  isDue: false,
}
const ask: PeeringStep = { do: 'ask', node: 'worker-1', hostname: 'worker-1', machine: 'm-1' }
const bare = node()
const edited = node({ ...annotated, 'metal.equinix.com/bgp-peers-1-peer-ip': '192.0.2.1' })
const third = 'metal.equinix.com/bgp-peers-2-peer-ip'
const longer = node({ ...annotated, [third]: '169.254.255.3' })
const renamed = node(annotated, { 'kubernetes.io/hostname': 'rack-7' })

const cases: { name: string; seen: Partial<PeeringSeen>; step: PeeringStep | undefined }[] = [
  { name: 'a settled node needs nothing', seen: {}, step: undefined },
  { name: 'of a new node the provider is asked', seen: { node: bare, fact: undefined, isDue: true }, step: ask },
  { name: 'a settled node is asked about again when it is time', seen: { isDue: true }, step: ask },
  {
    name: 'what is known is said before more is asked',
    seen: { node: bare, isDue: true },
    step: { do: 'annotate', node: bare, wanted: annotated, stale: [] },
  },
  {
    name: 'an edit of a person is put right',
    seen: { node: edited },
    step: { do: 'annotate', node: edited, wanted: annotated, stale: [] },
  },
  {
    name: 'an annotation of a peer that is no more goes',
    seen: { node: longer },
    step: { do: 'annotate', node: longer, wanted: annotated, stale: [third] },
  },
  {
    name: "a predecessor's annotations stay while the provider has not said anything",
    seen: { node: longer, fact: undefined, isDue: true },
    step: ask,
  },
  {
    name: 'a node that got another hostname is reported under that one, without a question',
    seen: { node: renamed },
    step: { do: 'rename', fact: makeFact(), hostname: 'rack-7' },
  },
  {
    name: 'what was known of a node that no longer exists is forgotten',
    seen: { node: undefined },
    step: { do: 'forget' },
  },
  {
    name: 'a node that no longer exists and forgotten needs nothing',
    seen: { node: undefined, fact: undefined },
    step: undefined,
  },
  { name: 'a node that is not selected any more is forgotten', seen: { isSelected: false }, step: { do: 'forget' } },
  {
    name: 'a node that is not selected says nothing of peers',
    seen: { node: longer, isSelected: false, fact: undefined, isDue: true },
    step: { do: 'annotate', node: longer, wanted: {}, stale: [...Object.keys(annotated), third] },
  },
  {
    name: 'a node that is not selected and says nothing is left alone',
    seen: { node: bare, isSelected: false, fact: undefined, isDue: true },
    step: undefined,
  },
  {
    name: 'a node on another machine than the one that is known is asked about again',
    seen: { providerId: { kind: 'machine', id: 'm-2' } },
    step: { do: 'forget' },
  },
  {
    name: 'a node whose machine is not known yet waits',
    seen: { node: edited, providerId: { kind: 'absent' }, fact: undefined, isDue: true },
    step: undefined,
  },
  {
    name: 'a node that registers again keeps what is known until its machine is',
    seen: { node: bare, providerId: { kind: 'absent' }, isDue: true },
    step: undefined,
  },
  {
    name: 'a node whose providerID cannot be read is left alone',
    seen: { node: edited, providerId: { kind: 'invalid' }, fact: undefined, isDue: true },
    step: undefined,
  },
  {
    name: "another cloud's node is never touched, whatever it is annotated with",
    seen: { node: longer, providerId: { kind: 'foreign' }, fact: undefined, isDue: true },
    step: undefined,
  },
  {
    name: "another cloud's node under the name of one of ours: ours is forgotten",
    seen: { providerId: { kind: 'foreign' } },
    step: { do: 'forget' },
  },
]
for (const { name, seen, step } of cases)
  test(name, () => assert.equal(peeringPlan(scheme)({ ...settled, ...seen }), step))

testRows(
  'controllers/peering/node-peering-plan.ts',
  cases.map(({ name, step }) => [name, step?.do ?? '-']),
  [
    'what was known of a node that no longer exists is forgotten',
    'a node on another machine than the one that is known is asked about again',
    'a node whose machine is not known yet waits',
    'a node that is not selected says nothing of peers',
    'a node that got another hostname is reported under that one, without a question',
    'an edit of a person is put right',
    'of a new node the provider is asked',
    'a settled node needs nothing',
  ],
)

test.run()
