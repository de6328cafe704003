import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { serviceAccountUser } from '../manifests/names.ts'
import { type EquinixMetal, startEquinixMetal } from './clouds/equinix-metal/server.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane/start.ts'
import { type Kubectl, kubectlOf } from './kubectl.ts'
import { freePorts } from './ports.ts'
import { type Product, type ProductOptions, ready, runProduct, startProduct } from './product.ts'

/** A project in a cloud, and the token that opens it. */
export type Account = { cloud: EquinixMetal; project: string; token: string }

export type Stage = Account & {
  controlPlane: ControlPlane
  kubectl: Kubectl
  /** Starts the product, as the ServiceAccount with its roles and nothing more, and waits until it is ready. */
  serve(options?: Pick<ProductOptions, 'env' | 'flags'>): Promise<Product>
  logOf(name: string): string
  stop(): Promise<void>
}

const namespace = 'eip-admission'
const user = serviceAccountUser(namespace)
const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']

/** `users` are those beside the administrator and the product. */
export type StageOptions = ControlPlaneOptions & {
  /** A cloud that is there already, for clusters that share one; whoever opened it closes it. */
  account?: Account
}

/** A control plane, a simulated cloud, and the product installed into the one with its webhooks at a loopback port. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { account, ...wanted } = options
  const { dir } = wanted
  const { cloud, project, token } = account ?? (await openAccount())
  const controlPlane = await startControlPlane({ ...wanted, users: { [user]: groups, ...wanted.users } })
  const logOf = (name: string) => join(dir, 'logs', `${name}.log`)
  const [webhook = 0] = await freePorts(1)
  await runProduct(['install', `--kubeconfig=${controlPlane.kubeconfig}`, `--webhook-url=https://127.0.0.1:${webhook}`])
  const products: Product[] = []
  return {
    controlPlane,
    cloud,
    project,
    token,
    kubectl: kubectlOf(controlPlane),
    logOf,
    async serve(more = {}) {
      const [health = 0] = await freePorts(1)
      const product = startProduct({
        kubeconfig: controlPlane.kubeconfigFor(user),
        cloud: { url: cloud.url, project, token },
        ports: { webhook, health },
        logFile: logOf('eip-admission'),
        ...more,
      })
      products.push(product)
      await ready(product, logOf('eip-admission'))
      return product
    },
    async stop() {
      for (const product of products) await product.stop('SIGTERM', 5_000)
      await controlPlane.stop()
      if (!account) await cloud.close()
    },
  }
}

async function openAccount(): Promise<Account> {
  const project = randomUUID()
  const token = randomBytes(16).toString('hex')
  const tokens = [{ token, label: 'sandbox', projects: [project] }]
  return { cloud: await startEquinixMetal({ projects: [{ id: project }], tokens }), project, token }
}
