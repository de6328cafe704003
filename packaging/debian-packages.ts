import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'

/** A Debian package of which the image has files. */
export type DebianPackage = {
  name: string
  version: string
  architecture: string
  status: string
  copyright: string
}

/** The packages that files of this machine belong to. */
export function debianPackages(files: string[]): DebianPackage[] {
  const names = new Set(files.map(packageOf))
  return [...names].toSorted().map((name) => {
    const status = query(['--status', name])
    const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(status)?.[1] ?? ''
    return {
      name: field('Package'),
      version: field('Version'),
      architecture: field('Architecture'),
      status,
      copyright: readFileSync(`/usr/share/doc/${field('Package')}/copyright`, 'utf8'),
    }
  })
}

/** Generated, so no package lists it. */
const generated: Record<string, string> = { '/etc/ssl/certs/ca-certificates.crt': 'ca-certificates' }

function packageOf(file: string): string {
  if (generated[file] !== undefined) return generated[file]
  // dpkg knows a file by the path that its package has, which may lead through the link from /lib to /usr/lib.
  const folder = dirname(file)
  const real = realpathSync(file)
  for (const path of [file, real, real.replace(/^\/usr/, ''), real.replace(dirname(real), folder)]) {
    const found = tryQuery(['--search', path])
    if (found !== undefined) return found.split(': ')[0] ?? ''
  }
  throw new Error(`${file} is of no Debian package; the image is assembled on Debian, so that its licences are known`)
}

function tryQuery(args: string[]): string | undefined {
  try {
    return query(args)
  } catch {
    return undefined
  }
}

function query(args: string[]): string {
  return execFileSync('dpkg-query', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
