// Kubeconfigs of tests, each in a folder of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'

/** Runs a test with an empty folder, which it removes afterwards. */
export async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A kubeconfig with one context, `here`. */
export function write(folder: string, { cluster = {}, user = {} }: { cluster?: object; user?: object }): string {
  const file = join(folder, 'config')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'k', user: 'u', namespace: 'mine' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  }
  writeFileSync(file, stringify(config))
  return file
}

export const base64 = (text: string) => Buffer.from(text).toString('base64')

/** A plugin that prints a token with a number, one higher at each run. */
export function plugin(folder: string, expiresInMs: number): object {
  const script = `
    const fs = require('node:fs'), file = ${JSON.stringify(join(folder, 'runs'))}
    const run = fs.existsSync(file) ? Number(fs.readFileSync(file)) + 1 : 1
    fs.writeFileSync(file, String(run))
    const expirationTimestamp = new Date(Date.now() + ${expiresInMs}).toISOString()
    console.log(JSON.stringify({ status: { token: 'run-' + run, expirationTimestamp } }))`
  return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', script] } }
}

/** Runs with an empty home folder, without the variables of this machine, and with those that a test gives. */
export async function inEnvironment(
  given: Record<string, string>,
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const names = ['HOME', 'KUBECONFIG', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']
  const before = names.map((name) => [name, process.env[name]] as const)
  for (const name of names) delete process.env[name]
  await withFolder(async (folder) => {
    Object.assign(process.env, { HOME: folder }, given)
    await run(folder)
  }).finally(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
}
