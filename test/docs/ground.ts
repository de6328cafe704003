// The ground of pages: a cluster with pods and nothing installed, or the sandbox in which the product runs.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { startControlPlane } from '../../sandbox/control-plane/start.ts'
import { type Access, type DialectName, dialects } from '../../sandbox/dialects.ts'
import { helmProgram } from '../../sandbox/helm/build.ts'
import { productCommand } from '../../sandbox/product-command.ts'
import { setStage } from '../../sandbox/stage.ts'
import { startKubelet } from '../rig/pods/kubelet.ts'
import { untilReviewed } from '../whole/reviewed.ts'
import { root } from './pages.ts'

/** Where the commands of a page run. */
export type Ground = {
  dir: string
  env: NodeJS.ProcessEnv
  /** The words of the page, and those that are typed instead: the reader's own names. */
  readersNames: [string, string][]
  close: () => Promise<void>
}

const dialect = 'cherry-servers'
const controllers = ['deployment-controller', 'replicaset-controller', 'job-controller', 'daemonset-controller']

/** Opens the sandbox with the product in it, as `make sandbox` does. */
export async function openSandbox(flags: string[]): Promise<Ground> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-docs-'))
  const stage = await setStage({ dir, dialect })
  const product = await stage.serve({
    env: { ...dialects[dialect].defaultLocation, EIP_SERVICE_LOCATION_WINS: 'true' },
    flags,
  })
  const access = { url: stage.cloud.url, project: stage.project, token: stage.token }
  const { kubeconfig: file, kubectl } = stage.controlPlane
  await untilReviewed(connect(kubeconfig({ file }), { userAgent: 'test' }))
  return {
    ...(await shell({ dir, file, kubectl, access })),
    readersNames: [['HOST:10258', `127.0.0.1:${product.ports.health}`], ...accountOf(access)],
    close: () => stage.stop().finally(() => rmSync(dir, { recursive: true })),
  }
}

/** Opens a cluster with a node that runs pods, and without the product. */
export async function openCluster(): Promise<Ground> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-docs-'))
  const { cloud, project, token } = await dialects[dialect].open()
  const controlPlane = await startControlPlane({ dir, controllers })
  const client = connect(kubeconfig({ file: controlPlane.kubeconfig }), { userAgent: 'test', timeoutMs: 30_000 })
  const kubelet = await startKubelet(controlPlane, client)
  const access = { url: cloud.url, project, token }
  const { kubeconfig: file, kubectl } = controlPlane
  return {
    ...(await shell({ dir, file, kubectl, access, tools: [dirname(await helmProgram())] })),
    readersNames: accountOf(access),
    async close() {
      await kubelet.stop()
      await controlPlane.stop()
      await cloud.close()
      rmSync(dir, { recursive: true })
    },
  }
}

/** The account of the simulated cloud in the place of the reader's. */
function accountOf({ url, project, token }: Access): [string, string][] {
  const own = `"apiKey": "${token}", "projectID": "${project}", "base-url": "${url}"`
  return [['"apiKey": "...", "projectID": "..."', own]]
}

/** `tools` are folders of more programs. */
type Shell = {
  dir: string
  file: string
  kubectl: string
  access: Access
  dialect?: DialectName
  tools?: string[]
}

/** A folder with the manifests, as in a clone, and an environment with the programs that pages call. */
export async function shell(of: Shell): Promise<Pick<Ground, 'dir' | 'env'>> {
  const { dir, file, kubectl, access, dialect: name = dialect, tools = [] } = of
  const home = join(dir, 'home')
  const bin = join(home, 'bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(join(root, 'manifests'), join(home, 'manifests'))
  const place = `doctor) set -- "$@" --base-url=${access.url}`
  const command = (await productCommand()).map((word) => `'${word}'`).join(' ')
  const program = join(bin, 'eip-admission')
  writeFileSync(program, `#!/bin/sh\ncase "$1" in ${place} ;; esac\nexec ${command} "$@"\n`)
  chmodSync(program, 0o755)
  const folders = [bin, dirname(kubectl), ...tools, process.env.PATH ?? '']
  return {
    dir: home,
    env: {
      ...dialects[name].env(access),
      ...dialects[name].defaultLocation,
      PATH: folders.join(delimiter),
      HOME: home,
      CLOUD_URL: access.url,
      KUBECONFIG: file,
      EDITOR: 'false',
    },
  }
}
