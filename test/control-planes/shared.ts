// A control plane that many stages use, one after the other. Each stage gets it as it was just after its start.
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { count } from '../../sandbox/control-plane/count.ts'
import { kubeconfigWriter, readUsers } from '../../sandbox/control-plane/kubeconfig.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../sandbox/control-plane/start.ts'
import { tryExclusively } from '../../sandbox/exclusive.ts'
import { type EtcdState, keysOf, readState, restoreState } from './etcd-state.ts'

/** The variable in which the runner names the folder of the control plane that a file may borrow. */
export const sharedVariable = 'TEST_CONTROL_PLANE'

type Shared = Pick<ControlPlane, 'url' | 'etcdUrl' | 'kubectl'> & { state: EtcdState; apiGroups: string[] }

/** Writes the files that others need to borrow a control plane into its folder, just after its start. */
export async function share({ dir, url, etcdUrl, kubectl }: ControlPlane): Promise<void> {
  const apiGroups = await readApiGroups(url, dir)
  const shared: Shared = { url, etcdUrl, kubectl, apiGroups, state: await startedState(etcdUrl) }
  writeFileSync(join(dir, 'shared.json'), JSON.stringify(shared), { mode: 0o600 })
}

/** The API server creates it for itself a moment after it is ready, and tests expect it. */
const ownService = '/registry/services/specs/default/kubernetes'

/** The state of an API server that has made its own Service. */
async function startedState(etcdUrl: string): Promise<EtcdState> {
  for (let attempt = 0; attempt < 1200; attempt++) {
    const state = await readState(etcdUrl)
    if (keysOf(state).includes(ownService)) return state
    await sleep(50)
  }
  throw new Error('the API server does not make the Service default/kubernetes')
}

/** Borrows the control plane that the runner shares if it fits, and starts another one if it does not. */
export async function testControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { [sharedVariable]: folder } = process.env
  return (folder !== undefined && (await borrow(folder, options))) || startControlPlane(options)
}

/**
 * Lends the control plane of this folder, empty, with its files in `options.dir`; `stop` returns it. Undefined while
 * another borrower has it, and for a stage that needs other users or programs.
 */
export async function borrow(folder: string, options: ControlPlaneOptions): Promise<ControlPlane | undefined> {
  const { dir, users = {}, ...others } = options
  if (Object.keys(others).length > 0 || !hasUsers(folder, users)) return undefined
  const release = await tryExclusively(folder)
  if (!release) return undefined
  const { url, etcdUrl, kubectl, state, apiGroups } = JSON.parse(
    readFileSync(join(folder, 'shared.json'), 'utf8'),
  ) as Shared
  count('lent')
  await restoreState(etcdUrl, state)
  await untilServed(apiGroups, () => readApiGroups(url, folder))
  mkdirSync(join(dir, 'logs'), { recursive: true })
  copyFileSync(join(folder, 'tokens.csv'), join(dir, 'tokens.csv'))
  symlinkSync(join(folder, 'certs'), join(dir, 'certs'))
  const kubeconfigFor = kubeconfigWriter(dir, url)
  return {
    url,
    etcdUrl,
    kubectl,
    dir,
    kubeconfigFor,
    kubeconfig: kubeconfigFor('admin'),
    apiserver: { stop: refuse, start: refuse },
    whileDown: refuse,
    stop: async () => release(),
  }
}

/** Whether the control plane of this folder still runs. */
export async function canBeBorrowed(folder: string): Promise<boolean> {
  try {
    const { etcdUrl } = JSON.parse(readFileSync(join(folder, 'shared.json'), 'utf8')) as Shared
    return (await fetch(`${etcdUrl}/health`, { signal: AbortSignal.timeout(30_000) })).ok
  } catch {
    return false
  }
}

function refuse(): Promise<never> {
  throw new Error('this control plane is shared: open the stage with `ownControlPlane: true`')
}

function hasUsers(folder: string, wanted: Record<string, string[]>): boolean {
  const users = new Map(readUsers(folder).map(({ name, groups }) => [name, groups.join()]))
  return Object.entries(wanted).every(([name, groups]) => users.get(name) === groups.join())
}

/** The API server still serves CRDs that were removed from etcd until it notices. */
async function untilServed(wanted: string[], read: () => Promise<string[]>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if ((await read()).join() === wanted.join()) return
    await sleep(50)
  }
  throw new Error(`the API server does not come to serve ${wanted.join(', ')} alone`)
}

async function readApiGroups(url: string, dir: string): Promise<string[]> {
  const [admin] = readUsers(dir)
  const agent = new Agent({ rejectUnauthorized: false })
  const headers = { authorization: `Bearer ${admin?.token}`, accept: 'application/json' }
  const text = await new Promise<string>((resolve, reject) => {
    const call = get(`${url}/apis`, { agent, headers }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        body += part
      })
      answer.on('end', () => resolve(body))
    })
    call.on('error', reject)
  })
  const { groups } = JSON.parse(text) as { groups: { name: string }[] }
  return groups.map(({ name }) => name).toSorted()
}
