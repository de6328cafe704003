// Makes the image without a container engine: the files of make-rootfs as one layer, in a tar that container tools import.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Architecture } from './debian-packages.ts'
import { appFolder, commandLine, imageEnv, imageNode } from './program.ts'
import { assembleRootfs } from './rootfs.ts'

/** The image that the chart uses by default. */
export const imageRepository = 'ghcr.io/eip-admission/eip-admission'

export type ImageOptions = {
  architecture: Architecture
  version: string
  /** The commit, and when it was made, in seconds since 1970. */
  revision: string
  committedSeconds: number
}

type Blob = { mediaType: string; digest: string; size: number }

/** The command of a container, and the labels that registries show. The Dockerfile says the same. */
export function imageConfig({ version, revision }: Pick<ImageOptions, 'version' | 'revision'>) {
  return {
    User: '65532:65532',
    Env: Object.entries(imageEnv).map(([name, value]) => `${name}=${value}`),
    Entrypoint: commandLine(appFolder, imageNode),
    Cmd: ['serve'],
    WorkingDir: '/',
    Labels: {
      'org.opencontainers.image.title': 'eip-admission',
      'org.opencontainers.image.description':
        'Elastic IPs for Kubernetes Services of type LoadBalancer on bare metal, reserved at admission',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
    },
  }
}

/** Writes the image to a file, and returns the digest of its manifest: the same for the same commit. */
export async function writeImage(file: string, options: ImageOptions): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
  try {
    const rootfs = join(dir, 'rootfs')
    await assembleRootfs(rootfs, options.architecture)
    return archive(rootfs, file, {
      architecture: options.architecture,
      committedSeconds: options.committedSeconds,
      config: imageConfig(options),
      name: `${imageRepository}:${options.version}`,
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

export type ArchiveOptions = {
  architecture: Architecture
  committedSeconds: number
  config: object
  /** The repository and tag that a runtime gives the image. */
  name: string
}

/** Writes a folder as an image of one layer, in the OCI layout and with the manifest that `docker load` reads. */
export function archive(rootfs: string, file: string, options: ArchiveOptions): string {
  const { architecture, committedSeconds, name } = options
  const layout = mkdtempSync(join(tmpdir(), 'eip-admission-layout-'))
  try {
    const { config, layer, manifest } = writeBlobs(layout, rootfs, options)
    const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name }
    const top = { ...manifest, platform: { architecture, os: 'linux' }, annotations }
    const texts = {
      'oci-layout': { imageLayoutVersion: '1.0.0' },
      'index.json': { schemaVersion: 2, manifests: [top] },
      'manifest.json': [{ Config: blobPath(config), RepoTags: [name], Layers: [blobPath(layer)] }],
    }
    for (const [path, value] of Object.entries(texts)) writeFileSync(join(layout, path), JSON.stringify(value))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, tarOf(layout, [...Object.keys(texts), 'blobs'], committedSeconds))
    return manifest.digest
  } finally {
    rmSync(layout, { recursive: true, force: true })
  }
}

function writeBlobs(layout: string, rootfs: string, options: ArchiveOptions) {
  const folder = join(layout, 'blobs/sha256')
  mkdirSync(folder, { recursive: true })
  const put = (type: string, content: Buffer): Blob => {
    const hash = sha256(content)
    writeFileSync(join(folder, hash), content)
    return { mediaType: `application/vnd.oci.image.${type}`, digest: `sha256:${hash}`, size: content.length }
  }
  const putJson = (type: string, value: object) => put(`${type}.v1+json`, Buffer.from(JSON.stringify(value)))
  const tar = tarOf(rootfs, ['.'], options.committedSeconds)
  const layer = put('layer.v1.tar+gzip', gzipSync(tar))
  const config = putJson('config', {
    architecture: options.architecture,
    os: 'linux',
    created: new Date(options.committedSeconds * 1000).toISOString(),
    config: options.config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(tar)}`] },
  })
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = putJson('manifest', { schemaVersion: 2, mediaType, config, layers: [layer] })
  return { config, layer, manifest }
}

const blobPath = ({ digest }: Blob) => `blobs/${digest.replace(':', '/')}`

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** A tar without traces of this machine: none of its user names, times or file order. */
function tarOf(folder: string, paths: string[], seconds: number): Buffer {
  const same = ['--format=ustar', '--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner']
  return execFileSync('tar', [...same, '-C', folder, '-cf', '-', ...paths], { maxBuffer: 2 ** 30 })
}

/** The version and the commit of this checkout. */
export function checkout(root: string): Omit<ImageOptions, 'architecture'> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
  const [revision = '', seconds = ''] = git('log', '-1', '--format=%H %ct').split(' ')
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
  return { version, revision: isChanged ? `${revision}-dirty` : revision, committedSeconds: Number(seconds) }
}
