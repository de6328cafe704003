import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type PageFacts, makeModel } from '../../status-page/model.ts'
import { type Section, maxRows } from '../../status-page/section.ts'
import { type RecordFields, facts, minutesAgo, node, nowMs, record } from './builders.ts'

function sectionOf(given: Partial<PageFacts>, id: string): Section {
  const section = makeModel(facts(given), nowMs).find((one) => one.id === id)
  assert.ok(section, `there is a section ${id}`)
  return section
}

/** The rows of the section's table, each cell as tone, text and detail. */
function rowsOf(section: Section): string[][] {
  return section.blocks.flatMap((block) =>
    block.kind === 'table'
      ? block.rows.map((row) =>
          row.map(({ tone, text = '', detail }) => [tone, text, detail].filter(Boolean).join(' ')),
        )
      : [],
  )
}

const notesOf = (section: Section) =>
  section.blocks.flatMap((block) =>
    block.kind === 'notes' ? block.notes.map(({ tone, text }) => `${tone} ${text}`) : [],
  )

const addresses = (fields: RecordFields[], shown: string[] = [], limit?: number): Partial<PageFacts> => ({
  addresses: {
    records: fields.map(record),
    service: () => ({ status: { loadBalancer: { ingress: shown.map((ip) => ({ ip })) } } }),
    limits: { cluster: limit, namespace: undefined },
  },
})

test('a process without caches shows what it has, and that all is well', () => {
  const ids = makeModel(facts(), nowMs).map(({ id }) => id)
  assert.equal(ids, ['summary', 'cloud', 'events', 'process'])
  assert.equal(notesOf(sectionOf({}, 'summary')), ['good No problem, as far as this replica knows.'])
})

for (const { name, given, shown = [], row } of [
  {
    name: 'an address that its Service shows',
    given: { address: '192.0.2.1' },
    shown: ['192.0.2.1'],
    row: ['192.0.2.1', 'good Bound'],
  },
  {
    name: 'an IPv6 address in another spelling',
    given: { address: '2001:db8::1' },
    shown: ['2001:0db8:0::1'],
    row: ['2001:db8::1', 'good Bound'],
  },
  {
    name: 'an address that nobody shows',
    given: { address: '192.0.2.1' },
    row: ['192.0.2.1', 'good Bound the Service does not show it yet'],
  },
  {
    name: 'a new request',
    given: { phase: 'Requested' as const, minutes: 1 },
    row: ['quiet none yet', 'busy Requested'],
  },
  {
    name: 'an old request with the words of the provider',
    given: { phase: 'Requested' as const, minutes: 6, message: 'no quota' },
    row: ['quiet none yet', 'bad Requested no quota'],
  },
]) {
  test(`${name} is shown as what it is`, () => {
    const [cells = []] = rowsOf(sectionOf(addresses([given], shown), 'addresses'))
    const [address, state] = row
    assert.equal(cells.slice(0, 3), [address, 'ns/web', state])
  })
}

test('what waits comes first, and the summary names what waits too long', () => {
  const records: RecordFields[] = [
    { name: 'b', address: '192.0.2.2' },
    { name: 'a', address: '192.0.2.1' },
    { name: 'late', phase: 'Requested', minutes: 30, message: 'no quota' },
    { name: 'going', phase: 'Releasing', address: '192.0.2.3' },
  ]
  const given = addresses(records, ['192.0.2.1', '192.0.2.2'])
  const services = rowsOf(sectionOf(given, 'addresses')).map(([, service]) => service)
  assert.equal(services, ['ns/late', 'ns/going', 'ns/a', 'ns/b'])
  assert.equal(notesOf(sectionOf(given, 'summary')), ['bad ElasticIP ns.late waits for its address: no quota'])
})

test('of many that wait too long the summary names three', () => {
  const late = ['a', 'b', 'c', 'd', 'e'].map((name): RecordFields => ({ name, phase: 'Requested', minutes: 30 }))
  assert.equal(notesOf(sectionOf(addresses(late), 'summary')), [
    'bad ElasticIP ns.a waits for its address',
    'bad ElasticIP ns.b waits for its address',
    'bad ElasticIP ns.c waits for its address',
    'bad 2 more wait too',
  ])
})

test('the summary counts the Services whose addresses nobody has announced for minutes', () => {
  const held = (name: string, address: string, minutes: number): RecordFields => ({ name, address, minutes })
  const notes = (...records: RecordFields[]) => notesOf(sectionOf(addresses(records, ['192.0.2.1']), 'summary'))
  const well = ['good No problem, as far as this replica knows.']
  assert.equal(notes(held('a', '192.0.2.1', 30), held('b', '192.0.2.2', 2)), well)
  assert.equal(notes(held('a', '192.0.2.1', 30), held('b', '192.0.2.2', 6)), [
    'bad 1 Service does not show its address: no announcing software has taken it',
  ])
  assert.equal(notes(held('a', '192.0.2.3', 30), held('b', '192.0.2.2', 6)), [
    'bad 2 Services do not show their addresses: no announcing software has taken them',
  ])
})

test('names with numbers stand as people count', () => {
  const names = ['web-10', 'web-2', 'web-1']
  const section = sectionOf(addresses(names.map((name, n) => ({ name, address: `192.0.2.${n}` }))), 'addresses')
  assert.equal(
    rowsOf(section).map((row) => row[1]),
    ['ns/web-1', 'ns/web-2', 'ns/web-10'],
  )
})

test('a table has a limit, and says how to see the rest', () => {
  const records = Array.from({ length: maxRows + 200 }, (_, n) => ({ name: `s${n}`, address: '192.0.2.1' }))
  const section = sectionOf(addresses(records), 'addresses')
  assert.is(rowsOf(section).length, maxRows)
  const rests = section.blocks.flatMap((block) => (block.kind === 'table' ? block.rest : []))
  assert.equal(rests, ['200 more are not shown here: kubectl get elasticips'])
})

for (const { used, limit, tile } of [
  { used: 1, limit: undefined, tile: ['1', undefined] },
  { used: 8, limit: 10, tile: ['8 of 10', undefined] },
  { used: 9, limit: 10, tile: ['9 of 10', 'warn'] },
  { used: 10, limit: 10, tile: ['10 of 10', 'bad'] },
]) {
  test(`${used} addresses of ${limit ?? 'no limit'}`, () => {
    const records = Array.from({ length: used }, (_, n) => ({ name: `s${n}`, address: '192.0.2.1' }))
    const [tiles] = sectionOf(addresses(records, [], limit), 'addresses').blocks.filter(({ kind }) => kind === 'tiles')
    const [first] = tiles?.kind === 'tiles' ? tiles.tiles : []
    assert.equal([first?.value.text, first?.value.tone], tile)
  })
}

test('nodes: those that are not ready first, with machine and peers, and without a password', () => {
  const secret = { reveal: () => 'hidden' }
  const peer = { peerAddress: '192.0.2.9', peerAsn: 65_530, password: secret }
  const section = sectionOf(
    {
      nodes: {
        nodes: [
          node('a', { providerID: 'metal://m-1' }),
          node('b', { isReady: false }),
          node('c', { providerID: 'aws:///x' }),
        ],
        ids: { scheme: 'metal', older: [], id: /^m-\d$/ },
        machines: [],
        peers: (name) => (name === 'a' ? [peer] : undefined),
        usesBgp: true,
        isLeader: true,
      },
    },
    'nodes',
  )
  assert.equal(rowsOf(section), [
    ['b', 'bad not ready', 'warn not found yet', '', 'quiet none known'],
    ['a', 'good ready', 'm-1', '', 'good 1 192.0.2.9 (AS 65530)'],
    ['c', 'good ready', 'quiet of another cloud', '', 'quiet none known'],
  ])
  assert.not.match(JSON.stringify(section), 'hidden')
})

test('a call that nobody has tried again for long is no problem of now', () => {
  const call = { call: 'reserve', count: 3, failed: 1, failedAtMs: minutesAgo(16), fault: 'quota', status: 422 }
  const given = { cloud: { name: 'sky', calls: [call], lastSuccessAtMs: undefined, locations: undefined } }
  assert.equal(notesOf(sectionOf(given, 'summary')), ['good No problem, as far as this replica knows.'])
  assert.equal(rowsOf(sectionOf(given, 'cloud'))[0]?.[2], '1')
})

test('a call that failed last is named until it succeeds again', () => {
  const call = { call: 'reserve', count: 3, failed: 1, failedAtMs: minutesAgo(5), fault: 'quota', status: 422 }
  const cloud = (succeededAtMs: number) => ({ ...facts().cloud, calls: [{ ...call, succeededAtMs }] })
  assert.equal(notesOf(sectionOf({ cloud: cloud(minutesAgo(6)) }, 'summary')), [
    'warn the last reserve at the provider failed: quota',
  ])
  assert.match(notesOf(sectionOf({ cloud: cloud(minutesAgo(4)) }, 'summary')).join(), 'No problem')
})

test('the checks of the process come first in the summary', () => {
  const problems = [{ name: 'certificates', reason: 'none yet', tone: 'bad' as const }]
  assert.equal(notesOf(sectionOf({ problems }, 'summary')), ['bad certificates: none yet'])
})

for (const { name, leader, text } of [
  { name: 'this replica', leader: { isHere: true, identity: 'pod_1' }, text: 'this replica' },
  { name: 'another', leader: { isHere: false, identity: 'pod_2' }, text: 'another replica pod_2' },
  { name: 'nobody yet', leader: { isHere: false, identity: '' }, text: 'not known yet' },
]) {
  test(`who leads: ${name}`, () => {
    const tiles = sectionOf({ leader }, 'summary').blocks.flatMap((block) =>
      block.kind === 'tiles' ? block.tiles : [],
    )
    const { value } = tiles.find(({ label }) => label === 'leader') ?? {}
    assert.is([value?.text, value?.detail].filter(Boolean).join(' '), text)
  })
}

test('the control-plane address: its holder, and each API server', () => {
  const probes = { failures: 0, successes: 3, formerSuccesses: 0, answeredAtMs: nowMs }
  const one = (name: string, machine: string, more = {}) => ({
    name,
    machine,
    endpoint: { address: '10.0.0.1', port: 6443 },
    leaving: 0,
    probes: { ...probes, ...more },
  })
  const section = sectionOf(
    {
      controlPlane: {
        name: 'tag api',
        address: '192.0.2.1',
        machines: ['m-2'],
        readAtMs: nowMs,
        isLeader: true,
        leader: 'us',
        nodes: [one('a', 'm-1', { failures: 2, reason: 'refused' }), one('b', 'm-2')],
        probes: undefined,
        problem: 'somebody must look',
        dateOf: (ms) => ms,
      },
    },
    'control-plane',
  )
  assert.equal(notesOf(section), ['bad somebody must look'])
  assert.equal(
    rowsOf(section).map((row) => row.slice(0, 3)),
    [
      ['a', '10.0.0.1 port 6443', 'bad 2 failed refused'],
      ['b has the address', '10.0.0.1 port 6443', 'good answers'],
    ],
  )
})

test.run()
