// The process that only guards the control-plane address, with a simulated cloud and no API server.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../sandbox/dialects.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { startProduct } from '../../sandbox/product.ts'
import { dialectOf } from '../whole/dialects.ts'
import { withServer } from '../kube/scripted-server.ts'
import { eventually } from '../whole/eventually.ts'
import { kubeconfigs, quietServer } from './quiet-server.ts'

const tag = 'k8s=cp'
const kubeconfig = kubeconfigs()
const { dir } = kubeconfig
const { cloud, project, token } = await dialects['cherry-servers'].open()
const account = { url: cloud.url, project, token }
const { address } = await dialectOf('cherry-servers').order(account, [tag])

const atGuarded = `https://${address}:6443`

async function guard(flags: string[], env: Record<string, string> = { CHERRY_FIP_TAG: tag }, url = atGuarded) {
  const [health = 0] = await freePorts(1)
  const logFile = join(dir, `${health}.log`)
  const product = startProduct({
    dialect: 'cherry-servers',
    kubeconfig: kubeconfig.for(url),
    cloud: account,
    ports: { webhook: 1, health },
    logFile,
    env: { CHERRY_LOAD_BALANCER: '', ...env },
    flags: ['--only=control-plane', ...flags],
  })
  return { ...product, log: () => readFileSync(logFile, 'utf8') }
}

const settingsFile = join(dir, 'cloud-sa.json')
writeFileSync(settingsFile, JSON.stringify({ apiKey: token, projectId: project, 'base-url': cloud.url }))
const [pagePort = 0] = await freePorts(1)
const followed = [`--cloud-config=${settingsFile}`, `--status-page-address=127.0.0.1:${pagePort}`]

for (const [also, flags] of [
  ['', []],
  [', although it follows a file and shows a page', followed],
] as const)
  test(`it ends if it would talk to the API server by the address that it guards${also}`, async () => {
    const { exited, log } = await guard([...flags])
    assert.is(await exited, 1)
    assert.match(log(), `through the control-plane address itself (${atGuarded})`)
    assert.not.match(log(), 'still runs')
  })

test('it ends if there is no tag', async () => {
  const { exited, log } = await guard([], {})
  assert.is(await exited, 1)
  assert.match(log(), 'set the tag of the control-plane address')
})

test('it waits for its API server, is alive but not ready meanwhile, and stops at once', async () => {
  const guardian = await guard(['--api-server=https://127.0.0.1:1'])
  const alive = await eventually('it answers', () => guardian.health('/livez').catch(() => undefined))
  assert.is(alive.status, 200)
  assert.is((await guardian.health('/readyz')).status, 503)
  assert.match((await guardian.health('/metrics')).text, 'eip_admission_control_plane_leader 0')
  assert.is(await guardian.stop('SIGTERM', 60_000), 0)
  assert.not.match(guardian.log(), '5ecret')
})

test('it shows its status page on a loopback address', async () => {
  const [port = 0] = await freePorts(1)
  const guardian = await guard(['--api-server=https://127.0.0.1:1', `--status-page-address=127.0.0.1:${port}`])
  const page = await eventually('the page', () => fetch(`http://127.0.0.1:${port}/status`).catch(() => undefined))
  const text = await page.text()
  for (const words of ['Control-plane address', 'tag k8s=cp', 'synced-nodes', '<section id="cloud"'])
    assert.match(text, words)
  for (const secret of [token, '5ecret']) assert.not(text.includes(secret))
  assert.is(await guardian.stop('SIGTERM', 60_000), 0)
})

test('with --v=2 it logs its writes to the API server, and with --v=3 the objects that it wrote too', async () => {
  await withServer(quietServer().respond, async ({ url }) => {
    for (const [flag, isWhole] of [
      ['--v=2', false],
      ['--v=3', true],
    ] as const) {
      const guardian = await guard([flag], { CHERRY_FIP_TAG: tag }, url)
      const call = /call to the API server.*/
      try {
        const line = await eventually('it logs a call', () => guardian.log().match(call)?.[0])
        assert.is(/object.*kind.*Lease/.test(line), isWhole, line)
      } finally {
        await guardian.stop('SIGTERM', 60_000)
      }
    }
  })
})

test.after(async () => {
  await cloud.close()
  kubeconfig.remove()
})

test.run()
