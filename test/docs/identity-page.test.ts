// The tables of docs/concepts/identity.md say what the code answers: each of their rows is asked here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { MarkScheme, Marks } from '../../clouds/ports/cloud.ts'
import { findMachine } from '../../controllers/nodes/node-machine.ts'
import type { Service } from '../../kube/objects.ts'
import { findUsers } from '../../ledger/record/address-use.ts'
import { serviceMarks, whoseIs } from '../../ledger/record/marks.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { makeRecord, makeReservation, makeService } from '../builders.ts'
import { ids, internal, makeMachine, makeNode, own } from '../controllers/nodes/builders.ts'
import { root } from './pages.ts'

const page = readFileSync(join(root, 'docs/concepts/identity.md'), 'utf8')

/** The rows of the table whose first heading begins so. */
function rowsOf(heading: string): string[][] {
  const start = page.search(new RegExp(`^\\| ${heading}`, 'm'))
  const [table = ''] = page.slice(start).split('\n\n')
  const rows = table.split('\n').slice(2)
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The meaning of a cell. A new wording of the page gets its meaning here. */
function meaningOf<T>(cell: string | undefined, meanings: Record<string, T>): T {
  const entry = Object.entries(meanings).find(([text]) => text === cell)
  if (!entry) throw new Error(`the page says "${cell}", which means nothing to its test`)
  return entry[1]
}

const [address, otherAddress] = ['203.0.113.40', '203.0.113.99']
const held = { address, reservationID: 'res-1', phase: 'Bound' } as const
const here: MarkScheme = { usage: 'eip-admission', separator: '/', cluster: 'here' }
const [web, next] = ['default/web', 'default/next']

test('whose is this reservation: each row of the page', () => {
  const rows = rowsOf("The reservation's marks name")
  assert.is(rows.length, 6)
  for (const [cluster, and, at, whose] of rows) {
    const [services, named] = meaningOf<[string[], object]>(and, {
      'this Service, or no Service': [[web], {}],
      'another Service': [[next], {}],
      '': [[web, next], {}],
      'the ElasticIP names it in `spec.reservationID`, and is in use': [[web], { reservationID: 'res-1' }],
    })
    const marksOf = meaningOf<(key: string) => Marks>(cluster, {
      'this cluster': (key) => serviceMarks(here, key),
      'another cluster': (key) => serviceMarks({ ...here, cluster: 'there' }, key),
      'no cluster': () => ({}),
    })
    const addresses = meaningOf(at, {
      'the same': [address],
      another: [otherAddress],
      any: [address, otherAddress],
    })
    const expected = meaningOf(whose, {
      ours: 'ours',
      changed: 'changed',
      "another Service's": 'service',
      "another cluster's": 'cluster',
      "nobody's": 'nobody',
    })
    for (const found of services.flatMap((key) =>
      addresses.map((one) => makeReservation({ address: one, marks: marksOf(key) })),
    )) {
      const verdict = whoseIs({ scheme: here, sweepsUntagged: false }, makeRecord(held, named), found)
      assert.is(verdict.whose, expected, `${cluster}, ${and}, ${at}`)
    }
  }
})

const [outside, inside] = ['203.0.113.2', '10.0.0.2']
const node = makeNode({ addresses: [internal(outside), internal(inside)] })
/** By the column "named": the names of the machines m-1 to m-4. */
const names = {
  one: ['worker-1', 'else-2', 'else-3', 'else-4'],
  several: ['worker-1', 'worker-1', 'else-3', 'else-4'],
  none: ['else-1', 'else-2', 'else-3', 'else-4'],
}
/** The machines that may have an address, by their number. */
const holders: Record<string, number[][]> = {
  '': [[], [1]],
  nobody: [[]],
  'the named machine': [[1]],
  'the named machine, perhaps others': [[1], [1, 3]],
  'another machine': [[3]],
  'others only': [[3], [3, 4]],
  'one of them': [[1]],
  'none or several of them': [[], [1, 2]],
  'one machine': [[3]],
  'several machines': [[3, 4]],
  'one machine that is akin': [[3]],
  'several that are akin': [[3, 4]],
  'machines that are not akin': [[3], [3, 4]],
}

test('which machine is this node: each row of the page', () => {
  const rows = rowsOf('named ')
  assert.is(rows.length, 14)
  for (const [named, publicly = '', privately = '', answer] of rows) {
    const isAkin = /\bakin$/.test(privately) && !privately.includes('not akin')
    const pairs = meaningOf(publicly, holders).flatMap((one) =>
      meaningOf(privately, holders).map((other) => [one, other] as const),
    )
    for (const [withPublic, withPrivate] of pairs) {
      const machines = meaningOf(named, names).map((name, n) => {
        const addresses = [
          ...(withPublic.includes(n + 1) ? [own(outside, true)] : []),
          ...(withPrivate.includes(n + 1) ? [own(inside, false)] : []),
        ]
        const isNamesake = isAkin && withPrivate.includes(n + 1)
        return makeMachine({ id: `m-${n + 1}`, name: isNamesake ? `worker-1.example-${n}.com` : name, addresses })
      })
      const found = findMachine(node, { machines, nodes: [node], ids })
      const [chosen = 1] = [...withPublic, ...withPrivate]
      const expected = meaningOf<string | RegExp>(answer, {
        'the named machine': 'm-1',
        'that one': `m-${chosen}`,
        ambiguous: /machines may be node worker-1/,
        'not found; the Event names them': /^no machine has the name worker-1\. .* m-3 \(named/,
        'not found': /^no machine has one of the addresses/,
      })
      const where = `${named}, ${publicly} [${withPublic.join()}], ${privately} [${withPrivate.join()}]`
      if (typeof expected === 'string') assert.is('machine' in found && found.machine.id, expected, where)
      else assert.match('problem' in found ? found.problem : found.machine.id, expected, where)
    }
  }
})

test('who uses this address: each row of the page', () => {
  const requestAnnotations = ['metallb.io/loadBalancerIPs']
  const shown = { status: { loadBalancer: { ingress: [{ ip: address }] } } }
  const requests: Service[] = [
    makeService({ loadBalancerIP: address }),
    ...[addressAnnotation, ...requestAnnotations].map((name) => makeService({ annotations: { [name]: address } })),
  ]
  const rows = rowsOf('who says it')
  assert.is(rows.length, 4)
  for (const [who, , counts = ''] of rows) {
    const all = meaningOf<{ services?: Service[]; isRecord?: true }>(who, {
      'an ElasticIP that is not being released': { isRecord: true },
      'a Service of any type and class': {
        services: [makeService(shown), makeService({ ...shown, type: 'ClusterIP' })],
      },
      'a LoadBalancer of any class that is not being deleted': { services: requests },
      // No node is among those who are asked.
      'a Node: its addresses, pod ranges and labels': {},
    })
    const records = all.isRecord ? [makeRecord(held)] : []
    const [isInOwn, isInOther] = meaningOf(counts.replace(/,.*/, ''), {
      'against all Services': [true, true],
      'in its own namespace': [true, false],
      never: [false, false],
    })
    const cases = all.services ? all.services.map((service) => [service]) : [[]]
    for (const services of cases)
      for (const [asking, isUse] of [
        ['default/shop', isInOwn],
        ['other/shop', isInOther],
      ] as const) {
        const users = findUsers(
          { address },
          { services, records, requestAnnotations },
          { service: asking, records: [] },
        )
        assert.is(users.length > 0, isUse, `${who}, for ${asking}`)
      }
  }
})

test.run()
