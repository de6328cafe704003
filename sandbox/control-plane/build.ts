// Builds etcd, kube-apiserver, kube-controller-manager and kubectl from the module beside this file, once a version.
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { progress } from '../progress.ts'

const kubernetesVersion = 'v1.36.3'
const [major, minor] = kubernetesVersion.slice(1).split('.')

/** Program, the package it is built from, and the name `go build` gives it. */
const programs = [
  { name: 'etcd', package: 'go.etcd.io/etcd/server/v3', built: 'server' },
  { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver', built: 'kube-apiserver' },
  {
    name: 'kube-controller-manager',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    built: 'kube-controller-manager',
  },
  { name: 'kubectl', package: 'k8s.io/kubernetes/cmd/kubectl', built: 'kubectl' },
]

const flags = [
  '-trimpath',
  '-ldflags',
  `-s -w ${Object.entries({ gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')}`,
]

/**
 * The folder with the four programs, built there if they are not yet: minutes the first time, nothing after.
 * Programs in the folder named by KUBEBUILDER_ASSETS are used instead of building them.
 */
export async function controlPlanePrograms(): Promise<string> {
  const assets = process.env.KUBEBUILDER_ASSETS
  const folder = join(cacheRoot(), versionKey(assets))
  if (programs.every(({ name }) => existsSync(join(folder, name)))) return folder

  const given = programs.filter(({ name }) => assets !== undefined && existsSync(join(assets, name)))
  const missing = programs.filter((program) => !given.includes(program))
  const staging = `${folder}.${process.pid}`
  mkdirSync(staging, { recursive: true })
  try {
    for (const { name } of given) symlinkSync(join(assets ?? '', name), join(staging, name))
    if (missing.length > 0) await build(missing, staging)
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  return folder
}

function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'eip-admission', 'control-plane')
}

function versionKey(assets: string | undefined): string {
  const hash = createHash('sha256').update(JSON.stringify([flags, assets, process.platform, process.arch]))
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(import.meta.dirname, file)))
  return `${kubernetesVersion}-${hash.digest('hex').slice(0, 12)}`
}

async function build(missing: typeof programs, folder: string): Promise<void> {
  const shown = progress('building the control plane, once (about 5 minutes on 2 cores)')
  let packages = 0
  let errors = ''
  const go = spawn('go', ['build', '-v', ...flags, '-o', `${folder}/`, ...missing.map((program) => program.package)], {
    cwd: import.meta.dirname,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000)
    packages += text.split('\n').length - 1
    shown.update(`${packages} packages compiled`)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    go.on('error', (cause) => reject(new Error('go is needed to build the control plane: install Go', { cause })))
    go.on('close', resolve)
  })
  shown.done(code === 0 ? `${packages} packages compiled` : 'it did not work')
  if (code !== 0) throw new Error(`go build ended with ${code}:\n${errors}`)
  for (const { built, name } of missing) renameSync(join(folder, built), join(folder, name))
}

if (import.meta.main) console.log(await controlPlanePrograms())
