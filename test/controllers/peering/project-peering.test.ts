import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ProjectPeering } from '../../../clouds/ports/peering.ts'
import { projectPeeringController, overruled, projectPeering } from '../../../controllers/peering/declaration.ts'
import { periodicKey } from '../../../controllers/loop/controller.ts'
import { recentRead } from '../../../lib/recent-read.ts'
import { fakePeering, password } from './builders.ts'

const { signal } = new AbortController()
const secret = password('Secret12345')
const usual: ProjectPeering = { asn: 65_000, password: undefined }

function makeProject(wanted: ProjectPeering, found?: ProjectPeering) {
  const { cloud, peering } = fakePeering(found)
  const warnings: string[] = []
  const ignore = () => {}
  const log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (fields: object) => void warnings.push(JSON.stringify(fields)),
  }
  return { cloud, warnings, look: () => projectPeering({ peering, wanted, log })(signal), peering, log }
}

test('BGP that is off is enabled with the values of the settings', async () => {
  const { cloud, look } = makeProject({ asn: 65_010, password: secret })
  await look()
  assert.equal(cloud.asked, ['project', 'enable'])
  assert.equal([cloud.project?.asn, cloud.project?.password?.reveal()], [65_010, 'Secret12345'])
})

test('a project that has BGP costs one read, and is not changed', async () => {
  const { cloud, look, warnings } = makeProject(usual, { asn: 65_100, password: secret })
  await look()
  assert.equal([cloud.asked, cloud.project?.asn, warnings], [['project'], 65_100, []])
})

test('settings that the project overrules are reported once, and nothing when it no longer does', async () => {
  const { cloud, peering, log, warnings } = makeProject(usual, usual)
  const wanted: ProjectPeering = { asn: 65_001, password: secret }
  const look = projectPeering({ peering, log, wanted })
  await look(signal)
  await look(signal)
  cloud.project = wanted
  await look(signal)
  assert.is(warnings.length, 1)
  assert.match(warnings[0] ?? '', 'its ASN is 65000 and not 65001, and it has no password')
  assert.not.match(warnings[0] ?? '', 'Secret12345')
})

const cases: { name: string; wanted: ProjectPeering; found: ProjectPeering; said: RegExp | undefined }[] = [
  {
    name: 'the same',
    wanted: { asn: 65_001, password: secret },
    found: { asn: 65_001, password: secret },
    said: undefined,
  },
  { name: 'nothing', wanted: usual, found: { asn: 65_100, password: secret }, said: undefined },
  { name: 'another ASN', wanted: { ...usual, asn: 65_001 }, found: usual, said: /65000 and not 65001/ },
  { name: 'no ASN', wanted: { ...usual, asn: undefined }, found: usual, said: undefined },
  {
    name: 'an ASN, and the provider none yet',
    wanted: { ...usual, asn: 65_001 },
    found: { ...usual, asn: undefined },
    said: undefined,
  },
  { name: 'a password', wanted: { ...usual, password: secret }, found: usual, said: /it has no password/ },
  {
    name: 'another password',
    wanted: { ...usual, password: secret },
    found: { ...usual, password: password('Secret54321') },
    said: /its password is different/,
  },
]
for (const { name, wanted, found, said } of cases) {
  test(`settings that say ${name}: ${said ? 'a warning' : 'no warning'}`, () => {
    const warning = overruled(wanted, found)
    if (said) assert.match(warning ?? '', said)
    else assert.is(warning, undefined)
    assert.not.match(warning ?? '', /Secret/)
  })
}

test('the project is read again after each interval, unless another reader has just done so', async () => {
  const time = { ms: 0 }
  const { cloud, peering, log } = makeProject(usual, usual)
  const project = recentRead({ read: projectPeering({ peering, wanted: usual, log }), now: () => time.ms })
  const settings = { cluster: { peerRefreshMs: 1_000 } }
  const { reconciler } = projectPeeringController({ settings }, project)
  await reconciler.reconcile(periodicKey, signal)
  time.ms = 1_001
  await project.within(1_000, signal)
  await reconciler.reconcile(periodicKey, signal)
  assert.equal(cloud.asked, ['project', 'project'])
})

test.run()
