import { join } from 'node:path'
import { names, serviceAccountUser } from '../settings/installed-names.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane/start.ts'
import { type CloudOf, type DialectName, dialects } from './dialects.ts'
import { installChart } from './installed-chart.ts'
import { type Kubectl, kubectlOf } from './kubectl.ts'
import { startPod } from './pod.ts'
import { freePorts } from './ports.ts'
import {
  type Product,
  type ProductOptions,
  type ServeOptions,
  runProduct,
  startProduct,
  waitUntilReady,
} from './product.ts'
import { type ServiceAccountFiles, serviceAccountFiles } from './service-account.ts'

/** A project in a simulated cloud, with a token that may use it. */
export type Account<D extends DialectName> = { cloud: CloudOf<D>; project: string; token: string }

export type Stage<D extends DialectName = 'equinix-metal'> = Account<D> & {
  dialect: D
  controlPlane: ControlPlane
  kubectl: Kubectl
  /** The files with which the product in a container authenticates to the API server. */
  accountFiles(): Promise<ServiceAccountFiles>
  /** Where each product serves its webhooks. */
  webhookUrl: string
  /** Starts the product with the rights of its ServiceAccount only, and waits until it is ready. */
  serve(options?: Pick<ProductOptions, 'env' | 'flags'>): Promise<Product>
  logOf(name: string): string
  stop(): Promise<void>
}

const namespace = 'eip-admission'

/** The variable with which tests that know nothing of images run the product from the files of one. */
export const rootfsVariable = 'EIP_ADMISSION_ROOTFS'

/** How long the product may take to finish its work when it stops. */
const graceMs = 60_000

const user = serviceAccountUser(namespace)
const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']

/** `users` are added to the administrator and the product. */
export type StageOptions<D extends DialectName = 'equinix-metal'> = ControlPlaneOptions & {
  /** `equinix-metal` when absent. */
  dialect?: D
  /** An account in a running cloud, for clusters that share one; the caller closes that cloud. */
  account?: Account<D>
  /**
   * The installer of the product: the command `install`, helm whenever a product is started, or later the test itself.
   */
  install?: 'command' | 'helm' | 'later'
  /** Settings of every product on the stage, unless it gets others. */
  env?: Record<string, string>
  /** The files of the image: products run from them, as pods do. */
  rootfs?: string | undefined
  /** How the stage gets its control plane, which it stops at its end; it starts one when absent. */
  controlPlaneFor?: (options: ControlPlaneOptions) => Promise<ControlPlane>
}

/** Settings for a stage on which many Services are created: no limits, and a flood of them is no attack. */
export const unlimited = { EIP_MAX_ADDRESSES: 'none', EIP_MAX_ADDRESSES_PER_NAMESPACE: 'none', EIP_MAX_UNBOUND: '4000' }

/** Starts a control plane and a simulated cloud, and installs the product with its webhooks at a loopback port. */
export async function setStage<D extends DialectName = 'equinix-metal'>(options: StageOptions<D>): Promise<Stage<D>> {
  // Without `dialect` the default of `D` applies, which is the same.
  const { account, dialect = 'equinix-metal' as D, env = {}, install = 'command', rootfs, ...others } = options
  const { controlPlaneFor = startControlPlane, ...wanted } = others
  const { cloud, project, token } = account ?? (await dialects[dialect].open())
  const controlPlane = await controlPlaneFor({ ...wanted, users: { [user]: groups, ...wanted.users } })
  const logOf = (name: string) => join(wanted.dir, 'logs', `${name}.log`)
  const [webhook = 0] = await freePorts(1)
  const webhookUrl = `https://127.0.0.1:${webhook}`
  const target = [`--kubeconfig=${controlPlane.kubeconfig}`, `--webhook-url=${webhookUrl}`]
  if (install === 'command') await runProduct(['install', ...target])
  const products: Product[] = []
  const { launch, accountFiles } = launcher(controlPlane, rootfs ?? process.env[rootfsVariable])
  return {
    dialect,
    controlPlane,
    cloud,
    project,
    token,
    kubectl: kubectlOf(controlPlane),
    accountFiles,
    logOf,
    webhookUrl,
    async serve(more = {}) {
      const [health = 0] = await freePorts(1)
      const running = { dialect, cloud: { url: cloud.url, project, token }, ports: { webhook, health } }
      const settings = { env: { ...env, ...more.env } }
      const chart = install === 'helm' ? await installChart({ ...running, controlPlane, ...settings }) : settings
      const product = await launch({ ...running, logFile: logOf('eip-admission'), ...more, ...chart })
      products.push(product)
      await waitUntilReady(product, logOf('eip-admission'))
      return product
    },
    async stop() {
      const wereKilled = await stopAll(products)
      await controlPlane.stop()
      if (!account) await cloud.close()
      if (wereKilled) throw new Error(`eip-admission had to be killed; its log: ${logOf('eip-admission')}`)
    },
  }
}

/** Starts the product with the kubeconfig of its ServiceAccount, or from the files of an image as a pod. */
function launcher(controlPlane: ControlPlane, rootfs: string | undefined) {
  let files: Promise<ServiceAccountFiles> | undefined
  const accountFiles = () => (files ??= serviceAccountFiles(controlPlane, { namespace, name: names.serviceAccount }))
  const launch = async (options: ServeOptions): Promise<Product> => {
    if (rootfs === undefined) return startProduct({ ...options, kubeconfig: controlPlane.kubeconfigFor(user) })
    return startPod({
      ...options,
      controlPlane,
      container: { rootfs, account: await accountFiles(), dir: controlPlane.dir },
    })
  }
  return { launch, accountFiles }
}

/** Stops the products that run. Returns whether one of them had to be killed. */
async function stopAll(products: Product[]): Promise<boolean> {
  const running = products.filter((product) => product.isRunning())
  const ends = await Promise.all(running.map((product) => product.stop('SIGTERM', graceMs)))
  return ends.includes(null)
}
