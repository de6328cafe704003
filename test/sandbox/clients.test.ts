// Runs the vendors' own Go clients against the simulated clouds: each in a session that uses most of its calls.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startCherryServers } from '../../sandbox/clouds/cherry-servers/server.ts'
import { startEquinixMetal } from '../../sandbox/clouds/equinix-metal/server.ts'
import { startHetzner } from '../../sandbox/clouds/hetzner/server.ts'
import { startScaleway } from '../../sandbox/clouds/scaleway/server.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { goPrograms } from '../../sandbox/go-programs.ts'
import * as cherry from './cherry-fixture.ts'
import * as metal from './metal-fixture.ts'

/** Builds the session of a client, unless it is built already, and returns what it prints. */
async function runSession(client: string, args: string[]): Promise<string> {
  const dir = join(import.meta.dirname, 'clients', client)
  const version = createHash('sha256')
    .update(readFileSync(join(dir, 'main.go')))
    .digest('hex')
    .slice(0, 12)
  const programs = [{ name: 'session', package: '.', built: 'session' }]
  const folder = await goPrograms({ name: `session-${client}`, version, dir, programs, flags: [], takes: 'seconds' })
  const { stdout } = await promisify(execFile)(join(folder, 'session'), args, { timeout: 60_000 })
  return stdout
}

const token = 'session'
/** Servers and devices are ready at once: the sessions wait for them. */
const provisioningMs = 100

test("Cherry Servers' Go client succeeds in every step", async () => {
  const { project, team } = cherry
  const tokens = [{ token, projects: [project] }]
  const cloud = await startCherryServers({ projects: [{ id: project }], tokens, provisioningMs })
  try {
    assert.match(
      await runSession('cherrygo', [`${cloud.url}/`, token, String(team), String(project)]),
      /^(\d+) of \1\n$/,
    )
  } finally {
    await cloud.close()
  }
})

test("Equinix Metal's Go client packngo succeeds in every step", async () => {
  const { project } = metal
  const tokens = [{ token, projects: [project] }]
  const cloud = await startEquinixMetal({ projects: [{ id: project }], tokens, provisioningMs })
  try {
    assert.match(await runSession('packngo', [`${cloud.url}/`, token, project]), /^(\d+) of \1\n$/)
  } finally {
    await cloud.close()
  }
})

test("Hetzner Cloud's Go client hcloud-go succeeds in every step", async () => {
  const tokens = [
    { token, projects: [1] },
    { token: 'reader', projects: [1], readOnly: true },
  ]
  const cloud = await startHetzner({ tokens, actionMs: 100 })
  try {
    assert.match(await runSession('hcloudgo', [cloud.url, token, 'reader']), /^(\d+) of \1\n$/)
  } finally {
    await cloud.close()
  }
})

for (const { dialect, form } of [
  { dialect: 'hetzner', form: /^.{64}$/ },
  { dialect: 'scaleway', form: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ },
] as const)
  test(`the token of the sandbox is one that the clients of ${dialect} accept`, async () => {
    const { cloud, token } = await dialects[dialect].open()
    await cloud.close()
    assert.match(token, form)
  })

test("Scaleway's Go SDK succeeds in every step", async () => {
  const key = '00000000-0000-4000-8000-000000000001'
  const reader = '00000000-0000-4000-8000-000000000002'
  const project = '00000000-0000-4000-8000-000000000003'
  const tokens = [
    { token: key, projects: [project] },
    { token: reader, projects: [project], readOnly: true },
  ]
  const servers = ['one', 'two'].map((hostname) => ({ hostname }))
  const cloud = await startScaleway({ tokens, servers, quota: 2, changeMs: 1_000 })
  try {
    const ids = cloud.control.devices.all().map(({ id }) => String(id))
    assert.match(await runSession('scalewaygo', [cloud.url, key, reader, project, ...ids]), /^(\d+) of \1\n$/)
  } finally {
    await cloud.close()
  }
})

test.run()
