// The base system of the Dockerfile: a small Debian 13. debootstrap makes it once. Call it as `make debian-base`.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../cache-folder.ts'
import { exclusively } from '../exclusive.ts'
import { showProgress } from '../progress.ts'
import { debianPackage } from './debian-package.ts'

const release = 'trixie'

/** Returns the folder with the system, and makes it if it is missing: a minute the first time. Only root can. */
export async function debianBase(): Promise<string> {
  const folder = cacheFolder('debian-base', release)
  await exclusively(folder, async () => {
    if (existsSync(folder)) return
    const { folder: package_ } = await debianPackage('debootstrap', 'usr/sbin/debootstrap')
    const progress = showProgress(`Making a Debian ${release}; needed only once, takes a minute`)
    const staging = `${folder}.new`
    rmSync(staging, { recursive: true, force: true })
    mkdirSync(staging, { recursive: true })
    const { DEBIAN_MIRROR: mirror = 'http://deb.debian.org/debian' } = process.env
    const flags = ['--variant=minbase', '--include=ca-certificates', release, staging, mirror]
    const env = { ...process.env, DEBOOTSTRAP_DIR: join(package_, 'usr/share/debootstrap') }
    await promisify(execFile)(join(package_, 'usr/sbin/debootstrap'), flags, { env, maxBuffer: 2 ** 26 })
    renameSync(staging, folder)
    progress.done()
  })
  return folder
}

if (import.meta.main) console.log(process.getuid?.() === 0 ? await debianBase() : 'only root can make a Debian')
