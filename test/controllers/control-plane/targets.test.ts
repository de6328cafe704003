import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ProbeOptions, type TargetsOptions, probeTargets } from '../../../controllers/control-plane/targets.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const address = '203.0.113.9'

/** A control plane of one node, whose API server publishes its own port. */
const caches: TargetsOptions['caches'] = {
  nodes: () => [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'cp-a' },
      spec: { providerID: 'test://m1' },
      status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
    },
  ],
  slices: () => [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'] }],
      ports: [{ name: 'https', port: 7443 }],
    },
  ],
}

/** The targets of probes with these settings and this control-plane address, and the history of the probes. */
async function probed(controlPlane: ProbeOptions, at = address) {
  const hosts: string[] = []
  const outside: string[] = []
  const into = (asked: string[]) => (endpoint: { address: string; port: number }) => {
    asked.push(`${endpoint.address}:${endpoint.port}`)
    return Promise.resolve({ isWell: true as const })
  }
  const clock = fakeClock()
  const targets = probeTargets({
    probe: into(hosts),
    probeAddress: into(outside),
    intervalMs: 1_000,
    timeoutMs: 1_000,
    goodAfter: 1,
    clock,
    onOutcome: () => {},
    caches,
    assigned: () => ({ id: '1', address: at, machines: ['m1'], isNamed: false }),
    ids: { scheme: 'test', older: [], id: /^m\d$/ },
    controlPlane,
  })
  targets.refresh()
  await clock.pass(0)
  const successes = targets.address()?.successes
  targets.stop()
  await clock.pass(0)
  return { hosts, outside, successes }
}

const rows: [what: string, controlPlane: ProbeOptions, at: string, outside: string[]][] = [
  ['at the port of the API servers', { byHostAddress: false }, address, [`${address}:7443`]],
  ['at the port of its own that an operator set', { byHostAddress: false, port: 443 }, address, [`${address}:443`]],
  ['not at all by host address', { byHostAddress: true, port: 443 }, address, []],
  ['not at all where it is on this machine', { byHostAddress: false }, '127.0.0.1', []],
]
for (const [what, controlPlane, at, outside] of rows)
  test(`the control-plane address is probed ${what}, and each API server at its own address and port`, async () => {
    const successes = outside.length > 0 ? 1 : undefined
    assert.equal(await probed(controlPlane, at), { hosts: ['10.0.0.1:7443'], outside, successes })
  })

test.run()
