// Everything that a cluster of real nodes runs: programs, and the images of its pods. It is built before the cluster's
// namespaces, from which no registry is reachable.
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { archive, imageRepository, writeImage } from '../../packaging/image.ts'
import { ownArchitecture } from '../../packaging/rootfs.ts'
import { cacheFolder } from '../cache-folder.ts'
import { networkPlugins } from '../cni/build.ts'
import { containerdPrograms } from '../containerd/build.ts'
import { controlPlanePrograms } from '../control-plane/build.ts'
import { metallbManifest, metallbPrograms } from '../metallb/build.ts'
import { nodePrograms } from '../node/build.ts'
import { showProgress } from '../progress.ts'
import { debianPackage } from '../rig/debian-package.ts'
import { proxyPrograms } from '../rig/kube-proxy.ts'
import type { ClusterCloudName } from './clouds.ts'

/** The image of the pods that answer over HTTP. It is also the pause image, which holds each pod's namespaces. */
export const webImage = 'registry.k8s.io/e2e-test-images/agnhost:2.63.0'

/** A Deployment of such pods. */
export function webDeployment(
  name: string,
  { replicas = 1, spec = {} }: { replicas?: number; spec?: object } = {},
): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'web', image: webImage, args: ['netexec', '--http-port=8080'] }],
          ...spec,
        },
      },
    },
  }
}

/** The MetalLB whose pods announce addresses where the provider does not assign them. */
export const metallbVersion = '0.16.1'

/** The tag of the product's image, of these sources. */
export const productImage = { repository: imageRepository, tag: 'sandbox' }

/** The variable that names an existing archive of the product's image. */
export const imageVariable = 'EIP_ADMISSION_IMAGE'

export type ClusterPrograms = {
  controlPlane: string
  node: string
  containerd: string
  plugins: string
  proxy: string
  runc: string
  /** The image archives that each node imports. */
  images: string[]
  /** The environment in which these programs find others and their libraries. */
  env(dir: string): NodeJS.ProcessEnv
}

/**
 * Builds and downloads what is missing: about 12 minutes the first time, and two more if MetalLB announces. `web` is an
 * archive of another image with the name of `webImage`.
 */
export async function clusterPrograms(cloudName: ClusterCloudName = 'hetzner', web?: string): Promise<ClusterPrograms> {
  const controlPlane = await controlPlanePrograms()
  const node = await nodePrograms()
  const containerd = await containerdPrograms()
  const plugins = await networkPlugins()
  const proxy = await proxyPrograms()
  const runc = await debianPackage('runc', 'usr/sbin/runc')
  const conntrack = await debianPackage('conntrack', 'usr/sbin/conntrack')
  const libraries = [runc, conntrack].flatMap(({ env }) => env['LD_LIBRARY_PATH'] ?? [])
  return {
    controlPlane,
    node,
    containerd,
    plugins,
    proxy: proxy.program,
    runc: join(runc.folder, 'usr/sbin/runc'),
    images: [
      process.env[imageVariable] ?? (await imageOfProduct()),
      web ?? imageOf(webImage, join(node, 'agnhost'), ['pause']),
      ...(cloudName === 'cherry-servers' ? await imagesOfMetallb() : []),
    ],
    env(dir) {
      const env = proxy.env(dir)
      const found = join(dir, 'programs', 'conntrack')
      if (!existsSync(found)) symlinkSync(join(conntrack.folder, 'usr/sbin/conntrack'), found)
      return {
        ...env,
        PATH: [containerd, plugins, env['PATH']].join(delimiter),
        LD_LIBRARY_PATH: [...libraries, env['LD_LIBRARY_PATH'] ?? []].flat().join(delimiter),
      }
    },
  }
}

/** The product's image. It changes with every source, so this process removes it on exit. */
async function imageOfProduct(): Promise<string> {
  const file = cacheFolder('images', `product-${process.pid}.tar`)
  process.once('exit', () => rmSync(file, { force: true }))
  const progress = showProgress('Making the image of these sources')
  const options = { architecture: ownArchitecture, version: productImage.tag, revision: 'sandbox', committedSeconds: 0 }
  await writeImage(file, options)
  progress.done()
  return file
}

/** The images that the manifest of MetalLB names. */
async function imagesOfMetallb(): Promise<string[]> {
  await metallbManifest(metallbVersion)
  const { controller, speaker } = await metallbPrograms(metallbVersion)
  return [controller, speaker].map((file) => imageOf(`quay.io/metallb/${basename(file)}:v${metallbVersion}`, file))
}

/** The archive of an image that contains one static program and nothing else. */
function imageOf(image: string, program: string, args: string[] = []): string {
  const folder = cacheFolder('images')
  const file = join(folder, `${image.replaceAll(/[^a-z0-9.]+/g, '-')}-${ownArchitecture}.tar`)
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const staging = mkdtempSync(join(folder, 'image-'))
  try {
    const name = basename(program)
    mkdirSync(join(staging, 'root/tmp'), { recursive: true })
    cpSync(program, join(staging, 'root', name))
    const config = { Entrypoint: [`/${name}`], Cmd: args, WorkingDir: '/', Env: ['PATH=/'] }
    const options = { architecture: ownArchitecture, committedSeconds: 0, config, name: image }
    archive(join(staging, 'root'), join(staging, 'image.tar'), options)
    renameSync(join(staging, 'image.tar'), file)
    return file
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
