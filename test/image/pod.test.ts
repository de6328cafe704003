// The product in a container, where little is permitted and much is absent.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { memoryMiB } from '../../bench/proc.ts'
import { assembleRootfs } from '../../packaging/rootfs.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { openStage } from '../whole/test-stage.ts'

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
const rootfs = join(dir, 'rootfs')
await assembleRootfs(rootfs)
const stage = await openStage({ rootfs, env: { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' } })
const pod = await stage.startSwept()

const statusOf = (pid: number) =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/status`, 'utf8')
      .matchAll(/^(\w+):\t(.*)$/gm)
      .map(([, a, b]) => [a, b]),
  )

test('it runs as the first process of a container, without a capability and with no way to get one', () => {
  const status = statusOf(pod.pid)
  assert.is(status.NSpid?.split('\t').at(-1), '1')
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(status[set] ?? '', /^0+$/, set)
  assert.is(status.NoNewPrivs, '1')
  const mounts = readFileSync(`/proc/${pod.pid}/mounts`, 'utf8').split('\n')
  assert.match(mounts.find((line) => line.split(' ')[1] === '/') ?? '', / ro[,\s]/)
})

test('it gives a Service its address, and has less than 50 MiB of its own', async () => {
  const { spec } = await stage.create(loadBalancer('web'))
  assert.match(spec.loadBalancerIP ?? '', /^\d+\.\d+\.\d+\.\d+$/)
  // The rest is pages of Node's file, of which Linux maps more or fewer by how it happens to have cached them.
  const { own } = memoryMiB(pod.pid)
  assert.ok(own <= 50, `${own} MiB`)
})

test('it continues with a new token when the API server no longer accepts the old one', async () => {
  const account = ['serviceaccount', 'eip-admission', '-n', 'eip-admission']
  await stage.run('delete', ...account)
  await stage.run('create', ...account)
  // The old token was of the account that is gone.
  const log = () => readFileSync(stage.logOf('eip-admission'), 'utf8')
  await eventually('a call is refused', () => log().includes('Unauthorized') || undefined)
  await (await stage.accountFiles()).rotate()
  // Its cached credentials are read again at the next call that is refused.
  await eventually('a new Service has its address', async () => {
    const { spec } = await stage.create(loadBalancer(`later-${Date.now()}`))
    return spec.loadBalancerIP
  })
  assert.ok(pod.isRunning())
})

test('as the first process it ends automatically at SIGTERM', async () => {
  assert.is(await pod.stop('SIGTERM', 60_000), 0)
})

test.after(async () => {
  await stage.close()
  rmSync(dir, { recursive: true, force: true })
})

test.run()
