import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartFolder, runHelm } from '../run-helm.ts'
import type { Cluster } from './cluster.ts'
import { productImage } from './programs.ts'

const namespace = 'eip-admission'
const folder = '/etc/cloud-authority'

/** Installs the chart, with more values of the caller; its pods run the image of these sources. */
export async function installProduct(cluster: Cluster, values: object): Promise<void> {
  const { access, dir, kubectl, kubeconfig } = cluster
  const metadata = (name: string) => ({ name, namespace })
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('eip-admission-cloud'),
      stringData: { 'cloud-sa.json': JSON.stringify({ token: access.token }) },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata('cloud-authority'),
      data: { 'ca.crt': access.authority },
    },
  ]
  const { code, stderr } = await kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: objects })
  if (code !== 0) throw new Error(stderr)
  const file = join(dir, 'values.json')
  writeFileSync(file, JSON.stringify({ ...sharedValues, ...values }))
  const upgrade = ['upgrade', '--install', 'eip-admission', chartFolder, '--namespace', namespace, '--values', file]
  const settings = {
    'base-url': access.url,
    'api-server': cluster.apiServer,
    location: 'fsn1',
    loadbalancer: 'assign:///',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['--set', `settings.${name}=${value}`])
  await runHelm([...upgrade, ...flags], { KUBECONFIG: kubeconfig })
}

const sharedValues = {
  image: { ...productImage, pullPolicy: 'IfNotPresent' },
  cloudProvider: 'hetzner',
  // The simulated cloud has an authority that no image knows.
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: `${folder}/ca.crt` }],
  extraVolumes: [{ name: 'cloud-authority', configMap: { name: 'cloud-authority' } }],
  extraVolumeMounts: [{ name: 'cloud-authority', mountPath: folder, readOnly: true }],
}
