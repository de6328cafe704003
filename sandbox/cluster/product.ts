import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { metallbManifest } from '../metallb/build.ts'
import { administratorWith } from '../rig/administrator.ts'
import { chartFolder, runHelm } from '../run-helm.ts'
import type { Cluster } from './cluster.ts'
import { metallbVersion, productImage } from './programs.ts'

const namespace = 'eip-admission'
const folder = '/etc/cloud-authority'

type Values = { hostNetwork?: boolean; settings?: Record<string, string>; [name: string]: unknown }

/** Installs the chart with the caller's extra values; its pods run the image of these sources. */
export async function installProduct(cluster: Cluster, values: Values = {}): Promise<void> {
  const { cloud, authority, dir, kubectl, kubeconfig, apiServer } = cluster
  const metadata = { name: namespace, namespace }
  // The strictest standard accepts the chart's pods, except on the host network, where all guardians are.
  const isOnHost = values.hostNetwork || cloud.controlPlaneAddress !== undefined
  const labels = { 'pod-security.kubernetes.io/enforce': isOnHost ? 'privileged' : 'restricted' }
  const stringData = { 'cloud-sa.json': JSON.stringify(cloud.secret) }
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: 'eip-admission-cloud' }, stringData },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, name: 'cloud-authority' },
      data: { 'ca.crt': authority },
    },
  ]
  await administratorWith(kubectl).apply({ apiVersion: 'v1', kind: 'List', items })
  const file = join(dir, 'values.json')
  const settings = { 'base-url': cloud.url, 'api-server': apiServer, ...cloud.settings, ...values.settings }
  writeFileSync(file, JSON.stringify({ ...sharedValues, cloudProvider: cloud.cloudProvider, ...values, settings }))
  const upgrade = ['upgrade', '--install', 'eip-admission', chartFolder, '--namespace', namespace, '--values', file]
  await runHelm(upgrade, { KUBECONFIG: kubeconfig })
}

const sharedValues = {
  image: { ...productImage, pullPolicy: 'IfNotPresent' },
  // No image trusts the simulated cloud's authority.
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: `${folder}/ca.crt` }],
  extraVolumes: [{ name: 'cloud-authority', configMap: { name: 'cloud-authority' } }],
  extraVolumeMounts: [{ name: 'cloud-authority', mountPath: folder, readOnly: true }],
}

/** Installs MetalLB by its own manifest. Its pods start when eip-admission has initialized their nodes. */
export async function installMetallb({ kubectl }: Cluster): Promise<void> {
  await administratorWith(kubectl).apply(readFileSync(await metallbManifest(metallbVersion), 'utf8'))
}
