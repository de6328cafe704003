import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Node } from '../../../kube/objects.ts'
import { witness } from '../../../ledger/identity/witness.ts'
import { silentLog } from '../../fakes/log.ts'
import { neverAborted } from '../harness.ts'

type Kubelet = { bootID: string; renewsEachMs?: number; ready?: boolean }

/** Nodes whose kubelets renew their leases as time passes, and a process that looks at them. */
function makeCluster(kubelets: Record<string, Kubelet>) {
  const time = { ms: 0 }
  const nodes = () =>
    Object.entries(kubelets).map(([name, { bootID, ready = true }]): Node => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: {},
      status: {
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }],
        nodeInfo: { bootID, machineID: `machine-of-${name}`, systemUUID: 'uuid' },
      },
    }))
  const failing = { is: false }
  const process = () =>
    witness({
      nodes,
      renewTime: (name) => {
        if (failing.is) return Promise.reject(new Error('leases are forbidden'))
        const { renewsEachMs } = kubelets[name] ?? {}
        if (renewsEachMs === undefined) return Promise.resolve(undefined)
        return Promise.resolve(String(Math.floor(time.ms / renewsEachMs)))
      },
      sleep: (ms) => Promise.resolve(void (time.ms += ms)),
      log: silentLog,
    })
  /** The names that a process gives in each of so many sweeps. */
  const sweeps = async (count: number, of = process()) => {
    const found: (string | undefined)[] = []
    for (let n = 0; n < count; n += 1) {
      found.push(await of.find(neverAborted))
      time.ms += 300_000
    }
    return found
  }
  return { time, kubelets, failing, process, sweeps }
}

const renews = { renewsEachMs: 10_000 }

/** The name that a process of the cluster gives after it has seen its kubelets at work. */
async function named(kubelets: Record<string, Kubelet>): Promise<string> {
  return (await makeCluster(kubelets).sweeps(3)).at(-1) ?? ''
}

test('a process names a machine once it has seen two renewals of its lease', async () => {
  const [first, second, third] = await makeCluster({ a: { bootID: 'boot-1', ...renews } }).sweeps(3)
  assert.equal([first, second], [undefined, undefined])
  assert.match(third ?? '', /^[0-9a-f]{16}$/)
})

test('the same machine is named as long as it is ready, another one after that', async () => {
  const cluster = makeCluster({ a: { bootID: 'boot-1', ...renews }, b: { bootID: 'boot-2', ...renews } })
  const process = cluster.process()
  const [before] = (await cluster.sweeps(4, process)).slice(-1)
  cluster.kubelets['0'] = { bootID: 'boot-0', ...renews }
  assert.equal(await cluster.sweeps(2, process), [before, before])
  cluster.kubelets['a'] = { bootID: 'boot-1', ready: false }
  const after = (await cluster.sweeps(4, process)).at(-1)
  assert.ok(after !== undefined && after !== before)
})

test('a machine that reboots counts as another one', async () => {
  assert.is.not(
    await named({ a: { bootID: 'boot-1', ...renews } }),
    await named({ a: { bootID: 'boot-2', ...renews } }),
  )
})

test('a new process knows a machine of its cluster within half a minute', async () => {
  const kubelets = { a: { bootID: 'boot-1', ...renews }, b: { bootID: 'boot-2', ...renews } }
  const machine = await named(kubelets)
  const cluster = makeCluster(kubelets)
  assert.is(await cluster.process().serves(machine, neverAborted), true)
  assert.ok(cluster.time.ms <= 30_000)
})

const strangers: [name: string, kubelets: Record<string, Kubelet>][] = [
  ['whose nodes are from the backup, and have no kubelet', { a: { bootID: 'boot-1' } }],
  ['whose leases are from the backup, too', { a: { bootID: 'boot-1', renewsEachMs: Infinity } }],
  ['with other machines under the same names', { a: { bootID: 'boot-9', ...renews } }],
  ['without nodes', {}],
]
for (const [name, kubelets] of strangers) {
  test(`a copy ${name} does not take the machine for its own, and names none of the original cluster`, async () => {
    const machine = await named({ a: { bootID: 'boot-1', ...renews } })
    const copy = makeCluster(kubelets)
    assert.is(await copy.process().serves(machine, neverAborted), false)
    assert.not.ok((await copy.sweeps(4)).includes(machine))
  })
}

test('a kubelet that joins a copy under an old name proves nothing before the Node shows its machine', async () => {
  const machine = await named({ a: { bootID: 'boot-1', ...renews } })
  const copy = makeCluster({ a: { bootID: 'boot-1', ...renews } })
  const answer = copy.process().serves(machine, neverAborted)
  copy.kubelets['a'] = { bootID: 'boot-9', ...renews }
  assert.is(await answer, false)
})

test('an unreadable lease proves nothing, and is no error', async () => {
  const kubelets = { a: { bootID: 'boot-1', ...renews } }
  const machine = await named(kubelets)
  const cluster = makeCluster(kubelets)
  cluster.failing.is = true
  assert.is(await cluster.process().serves(machine, neverAborted), false)
  assert.equal(await cluster.sweeps(2), [undefined, undefined])
})

test('nodes that report no machine are no witnesses', async () => {
  assert.is(await named({ a: { bootID: '', ...renews } }), '')
})

test.run()
