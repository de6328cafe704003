// The control plane of one worker of the runner: it starts with the first file that needs one.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { names, serviceAccountUser } from '../../settings/installed-names.ts'
import { startControlPlane } from '../../sandbox/control-plane/start.ts'
import { canBeBorrowed, share, sharedVariable } from './shared.ts'

/** The file that names the folder of the control plane that `make test-control-plane` keeps. */
export const keptFile = resolve(import.meta.dirname, '../../node_modules/.cache/test-control-plane')

const accounts = ['system:serviceaccounts', 'system:serviceaccounts:eip-admission', 'system:authenticated']

/** The users of all stages: an API server reads them once, at its start. */
export const users = {
  [serviceAccountUser('eip-admission')]: accounts,
  [serviceAccountUser('eip-admission', names.guardian)]: accounts,
  viewer: ['system:authenticated'],
  tenant: ['system:authenticated'],
}

export type Lender = {
  /** The environment with which a file borrows the control plane. */
  lend(): Promise<Record<string, string>>
  /** Ends the control plane; the next file that needs one gets a new one. */
  close(): Promise<void>
}

type Started = { dir: string; stop: () => Promise<void> }

/** Starts a control plane that stages can borrow. */
export async function startShared(): Promise<Started> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-shared-'))
  const controlPlane = await startControlPlane({ dir, users })
  await share(controlPlane)
  return { dir, stop: () => controlPlane.stop().finally(() => rmSync(dir, { recursive: true, force: true })) }
}

/**
 * Makes the lender of a worker. The first worker takes the control plane that stays up between runs, if there is one.
 */
export function openLender(worker: number): Lender {
  let current: Promise<Started> | undefined
  return {
    async lend() {
      current ??= kept(worker).then((found) => found ?? startShared())
      return { [sharedVariable]: (await current).dir }
    },
    async close() {
      const former = current
      current = undefined
      await (await former)?.stop()
    },
  }
}

async function kept(worker: number): Promise<Started | undefined> {
  if (worker > 0 || !existsSync(keptFile)) return undefined
  const dir = readFileSync(keptFile, 'utf8')
  return (await canBeBorrowed(dir)) ? { dir, stop: async () => undefined } : undefined
}
