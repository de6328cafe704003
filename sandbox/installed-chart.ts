import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ControlPlane } from './control-plane/start.ts'
import { type Access, type DialectName, dialects } from './dialects.ts'
import { makeAdministrator } from './rig/administrator.ts'
import { chartFolder, runHelm } from './run-helm.ts'

export type ChartInstallation = {
  controlPlane: ControlPlane
  dialect: DialectName
  cloud: Access
  ports: { webhook: number; health: number }
  /** Settings of the process that have an environment variable. */
  env: Record<string, string>
}

type Deployment = {
  spec: { template: { spec: { containers: { args: string[]; env: { name: string; value?: string }[] }[] } } }
}

const namespace = 'eip-admission'

/** The fields of the provider's Secret, by the environment variables with the same values. */
const secretFields: Record<string, string> = {
  METAL_API_KEY: 'apiKey',
  METAL_PROJECT_ID: 'projectID',
  PACKET_API_KEY: 'apiKey',
  PACKET_PROJECT_ID: 'projectID',
  CHERRY_API_KEY: 'apiKey',
  CHERRY_PROJECT_ID: 'projectID',
  HCLOUD_TOKEN: 'token',
  SCW_SECRET_KEY: 'secretKey',
  PNAP_CLIENT_ID: 'clientID',
  PNAP_CLIENT_SECRET: 'clientSecret',
}

const mountedFile = /^--cloud-config=.*/

/**
 * Installs the chart, and returns the arguments and the environment with which its Deployment starts the product. No
 * kubelet runs here, so the caller starts the product: the webhooks are at a loopback port, and the Secret is a file.
 */
export async function installChart(
  wanted: ChartInstallation,
): Promise<{ args: string[]; env: Record<string, string> }> {
  const { controlPlane, cloud, ports } = wanted
  const { apply, run } = makeAdministrator(controlPlane)
  const access = Object.entries<string>(dialects[wanted.dialect].env(cloud))
  const secret = access.flatMap(([name, value]) => (name in secretFields ? [[secretFields[name], value]] : []))
  const config = JSON.stringify(Object.fromEntries(secret))
  const metadata = { name: 'eip-admission-cloud', namespace }
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'cloud-sa.json': config } })
  const values = join(controlPlane.dir, 'values.json')
  writeFileSync(values, JSON.stringify(valuesOf(wanted)), { mode: 0o600 })
  const upgrade = ['upgrade', '--install', 'eip-admission', chartFolder, '-n', namespace, '-f', values]
  await runHelm(upgrade, { KUBECONFIG: controlPlane.kubeconfig })

  const stored = JSON.parse(
    await run(['get', 'deployment', '-n', namespace, 'eip-admission', '-o', 'json']),
  ) as Deployment
  const [container] = stored.spec.template.spec.containers
  const file = join(controlPlane.dir, `cloud-sa-${ports.webhook}.json`)
  writeFileSync(file, config, { mode: 0o600 })
  const given = (container?.env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))
  return {
    args: (container?.args ?? []).map((arg) => arg.replace(mountedFile, `--cloud-config=${file}`)),
    env: { ...Object.fromEntries(given), POD_NAMESPACE: namespace },
  }
}

function valuesOf({ dialect, cloud, ports, env }: ChartInstallation): object {
  const { provider, env: dialectEnv } = dialects[dialect]
  const variables = Object.entries({ ...dialectEnv(cloud), ...env }).filter(([name]) => !(name in secretFields))
  return {
    cloudProvider: provider,
    settings: {
      'base-url': cloud.url,
      'webhook-bind-address': '127.0.0.1',
      'webhook-secure-port': ports.webhook,
      'bind-address': '127.0.0.1',
      'secure-port': ports.health,
      'shutdown-delay-duration': '0s',
    },
    extraEnv: variables.map(([name, value]) => ({ name, value })),
    webhooks: { url: `https://127.0.0.1:${ports.webhook}` },
  }
}
