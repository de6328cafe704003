// The guardian of an address, put together as in a process. The API servers are scripted, the cloud is in memory.
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AssignedAddress, Assignments } from '../../../clouds/ports/assignments.ts'
import { noProbes, type ProbeHistory } from '../../../controllers/moves/probe-history.ts'
import type { Lease, Node } from '../../../kube/objects.ts'
import {
  controlPlaneGuardian,
  type ControlPlaneGuardian,
} from '../../../controllers/control-plane/control-plane-guardian.ts'
import { names } from '../../../settings/installed-names.ts'
import { type ScriptedServer, withServer } from '../../kube/scripted-server.ts'
import { selfSigned } from '../../kube/self-signed.ts'
import { eventually } from '../../whole/eventually.ts'
import { baseWith, kubeconfigs, quietServer } from '../../server/quiet-server.ts'

/** No interface shows it, and it is on this machine all the same: probes of it leave no machine. */
const address = '127.0.0.2'
const machines = ['3b241101-e2bb-4255-8caf-4136c566a961', '3b241101-e2bb-4255-8caf-4136c566a962'] as const
const certificate = selfSigned('127.0.0.1', address)
const kubeconfig = kubeconfigs()

/** An API server at the address of a node, or at the control-plane address. */
async function listen(host: string, answer: RequestListener) {
  const server = createServer(certificate, answer)
  await once(server.listen(0, host), 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

const nodeAt = (name: string, machine: string, ip: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name },
  spec: { providerID: `equinixmetal://${machine}` },
  status: { addresses: [{ type: 'InternalIP', address: ip }] },
})

/** Where the API server of a node listens, as `default/kubernetes` publishes it. */
const sliceAt = (ip: string, port: number) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default', uid: 'b' },
  addressType: 'IPv4',
  endpoints: [{ addresses: [ip] }],
  ports: [{ name: 'https', port }],
})

type Given = {
  /** The lists of the API server, by plural. */
  lists?: Parameters<typeof quietServer>[0]
  /** The port of the control-plane address. */
  port?: number
  flags?: Record<string, string>
}

type Scene = {
  guardian: ControlPlaneGuardian
  /** Moves the address at the cloud, as another guardian or a person does. */
  moveTo: (machine: string) => void
  requests: ScriptedServer['requests']
}

/** Runs the guardian of an address that the first machine has, during a test. */
async function withGuardian({ lists = {}, port = 1, flags = {} }: Given, run: (scene: Scene) => Promise<void>) {
  const ends = new AbortController()
  let found: AssignedAddress = { id: 'r', address, machines: [machines[0]], tags: ['cp'], marks: {} }
  const assignments: Assignments = {
    assignedAddresses: async () => [found],
    assignedAddress: async () => found,
    move: async () => undefined,
    unassign: async () => undefined,
  }
  await withServer(quietServer(lists).respond, async ({ url, requests }) => {
    const access = { url, headers: { authorization: 'Bearer 5ecret' }, tls: { ca: certificate.cert } }
    const credentials = { current: async () => access, renew: async () => access }
    const base = await baseWith({
      flags: {
        '--cloud-provider': 'equinixmetal',
        '--kubeconfig': kubeconfig.for(url),
        '--control-plane-probe-interval': '200ms',
        '--control-plane-probe-timeout': '30s',
        '--control-plane-read-interval': '1s',
        ...flags,
      },
      env: { METAL_API_KEY: 'key', METAL_PROJECT_ID: 'p', METAL_METRO_NAME: 'da' },
      signal: ends.signal,
    })
    const controlPlane = { tag: 'cp', port, byHostAddress: false }
    const vendor = { ...base.vendor, controlPlane, assignments }
    const guardian = controlPlaneGuardian({ ...base, credentials, vendor })
    assert.ok(guardian)
    const running = guardian.run(ends.signal)
    try {
      await run({ guardian, requests, moveTo: (machine) => void (found = { ...found, machines: [machine] }) })
    } finally {
      ends.abort()
      await running
    }
  })
}

test('where strangers are refused, each API server is asked by who we are, and the control-plane address is not', async () => {
  const broken: RequestListener = ({ headers: { authorization } }, response) =>
    response.writeHead(authorization === undefined ? 401 : 500).end()
  const own = await listen('127.0.0.1', broken)
  const shared = await listen(address, broken)
  try {
    const lists = {
      nodes: [nodeAt('cp-a', machines[0], '127.0.0.1')],
      endpointslices: [sliceAt('127.0.0.1', own.port)],
    }
    await withGuardian({ lists, port: shared.port }, async ({ guardian }) => {
      const all = await eventually('both have answered', (observe) => {
        const { nodes, probes = noProbes } = observe(guardian.facts())
        const histories = [nodes[0]?.probes ?? noProbes, probes]
        // Before the guardian knows the port of the node's API server, it finds nobody there.
        const isAnswered = ({ successes, reason = '' }: ProbeHistory) => successes > 0 || reason.includes('answers')
        return histories.every(isAnswered) ? histories : undefined
      })
      assert.equal(
        all.map(({ reason }) => reason),
        ['it answers 500', undefined],
      )
    })
  } finally {
    own.close()
    shared.close()
  }
})

test('what the address answered from the machine before counts no more when another machine has it', async () => {
  let status = 200
  const shared = await listen(address, (_request, response) => response.writeHead(status).end())
  try {
    await withGuardian({ port: shared.port }, async ({ guardian, moveTo }) => {
      await eventually('it answers well', (observe) => observe(guardian.facts().probes)?.successes || undefined)
      status = 500
      moveTo(machines[1])
      const probes = await eventually('the new machine was probed', (observe) => {
        const facts = observe(guardian.facts())
        return facts.machines[0] === machines[1] && facts.probes?.failures ? facts.probes : undefined
      })
      assert.equal([probes.formerSuccesses, probes.answeredAtMs], [0, undefined])
    })
  } finally {
    shared.close()
  }
})

/** The requests of a guardian on this node about its lease, up to its first claim. Nobody holds the lease. */
async function askedBeforeClaim(nodeName: string): Promise<string[]> {
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: names.controlPlaneLease, namespace: 'kube-system' },
    spec: { holderIdentity: '', leaseDurationSeconds: 1 },
  }
  const nodes = machines.map((machine, n) => nodeAt(`cp-${n + 1}`, machine, `127.0.0.${10 + n}`))
  // A look at the lease that takes half of the renew deadline is given up and repeated.
  const patient = { '--control-plane-lease-duration': '120s', '--control-plane-renew-deadline': '100s' }
  let asked: string[] = []
  await withGuardian(
    { lists: { nodes, leases: [lease] }, flags: { '--node-name': nodeName, ...patient } },
    async ({ requests }) => {
      asked = await eventually('it claims the lease', (observe) => {
        const ofLease = requests.filter(({ path }) => path.endsWith(`/${names.controlPlaneLease}`))
        const methods = observe(ofLease.map(({ method }) => method))
        const claim = methods.indexOf('PUT')
        return claim < 0 ? undefined : methods.slice(0, claim + 1)
      })
    },
  )
  return asked
}

test('a free lease is claimed at the first look, but left to others at first by the guardian on the holder', async () => {
  assert.equal(await askedBeforeClaim('cp-2'), ['GET', 'PUT'])
  assert.equal((await askedBeforeClaim('cp-1')).slice(0, 2), ['GET', 'GET'])
})

test.after(() => kubeconfig.remove())

test.run()
