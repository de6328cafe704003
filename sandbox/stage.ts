import { join } from 'node:path'
import { serviceAccountUser } from '../manifests/names.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane/start.ts'
import { type CloudOf, type DialectName, dialects } from './dialects.ts'
import { type Kubectl, kubectlOf } from './kubectl.ts'
import { freePorts } from './ports.ts'
import { type Product, type ProductOptions, runProduct, startProduct, waitUntilReady } from './product.ts'

/** A project in a simulated cloud, with a token that may use it. */
export type Account<D extends DialectName> = { cloud: CloudOf<D>; project: string; token: string }

export type Stage<D extends DialectName = 'equinix-metal'> = Account<D> & {
  dialect: D
  controlPlane: ControlPlane
  kubectl: Kubectl
  /** Starts the product with the rights of its ServiceAccount only, and waits until it is ready. */
  serve(options?: Pick<ProductOptions, 'env' | 'flags'>): Promise<Product>
  logOf(name: string): string
  stop(): Promise<void>
}

const namespace = 'eip-admission'

/** How long the product may take to finish its work when it stops. */
const graceMs = 15_000

const user = serviceAccountUser(namespace)
const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']

/** `users` are added to the administrator and the product. */
export type StageOptions<D extends DialectName = 'equinix-metal'> = ControlPlaneOptions & {
  /** `equinix-metal` when absent. */
  dialect?: D
  /** An account in a running cloud, for clusters that share one; the caller closes that cloud. */
  account?: Account<D>
  /** Settings of every product on the stage, unless it gets others. */
  env?: Record<string, string>
}

/** Settings for a stage on which many Services are created: no limits, and a flood of them is no attack. */
export const unlimited = { EIP_MAX_ADDRESSES: 'none', EIP_MAX_ADDRESSES_PER_NAMESPACE: 'none', EIP_MAX_UNBOUND: '4000' }

/** Starts a control plane and a simulated cloud, and installs the product with its webhooks at a loopback port. */
export async function setStage<D extends DialectName = 'equinix-metal'>(options: StageOptions<D>): Promise<Stage<D>> {
  // Without `dialect` the default of `D` applies, which is the same.
  const { account, dialect = 'equinix-metal' as D, env = {}, ...wanted } = options
  const { cloud, project, token } = account ?? (await dialects[dialect].open())
  const controlPlane = await startControlPlane({ ...wanted, users: { [user]: groups, ...wanted.users } })
  const logOf = (name: string) => join(wanted.dir, 'logs', `${name}.log`)
  const [webhook = 0] = await freePorts(1)
  await runProduct(['install', `--kubeconfig=${controlPlane.kubeconfig}`, `--webhook-url=https://127.0.0.1:${webhook}`])
  const products: Product[] = []
  return {
    dialect,
    controlPlane,
    cloud,
    project,
    token,
    kubectl: kubectlOf(controlPlane),
    logOf,
    async serve(more = {}) {
      const [health = 0] = await freePorts(1)
      const product = startProduct({
        dialect,
        kubeconfig: controlPlane.kubeconfigFor(user),
        cloud: { url: cloud.url, project, token },
        ports: { webhook, health },
        logFile: logOf('eip-admission'),
        ...more,
        env: { ...env, ...more.env },
      })
      products.push(product)
      await waitUntilReady(product, logOf('eip-admission'))
      return product
    },
    async stop() {
      const running = products.filter((product) => product.isRunning())
      const ends = await Promise.all(running.map((product) => product.stop('SIGTERM', graceMs)))
      await controlPlane.stop()
      if (!account) await cloud.close()
      if (ends.includes(null)) throw new Error(`eip-admission had to be killed; its log: ${logOf('eip-admission')}`)
    },
  }
}
