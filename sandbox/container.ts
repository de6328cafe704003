// Runs a command as a pod's container does, without a container runtime. The command is the first process, has an
// unprivileged user, and is in the machine's network. Its root folder is read-only.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ServiceAccountFiles } from './service-account.ts'

export type Container = {
  rootfs: string
  account: ServiceAccountFiles
  /** A folder for what the container needs on this machine. */
  dir: string
}

const user = 65_532
const unshare = ['unshare', '-U', `--map-user=${user}`, `--map-group=${user}`, '-m', '--pid', '--fork', '--kill-child']
const mountPoint = 'secrets/kubernetes.io/serviceaccount'

/**
 * setpriv is the last program with capabilities, and drops them. The image does not have it, so it is copied from the
 * machine, with its libraries and their loader.
 */
const script = `set -e
root=$1; tools=$2; account=$3; loader=$4; shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/run/tools" "$root/run/${mountPoint}"
mount --bind "$tools" "$root/run/tools"
mount --bind "$account" "$root/run/${mountPoint}"
mount -o remount,bind,ro "$root/run"
mount -o remount,bind,ro "$root"
exec chroot "$root" "/run/tools/$loader" --library-path /run/tools /run/tools/setpriv \\
  --bounding-set=-all --ambient-caps=-all --inh-caps=-all --no-new-privs -- "$@"`

/** Returns a command that runs the given one in a container; its environment needs the machine's PATH. */
export function contained({ rootfs, account, dir }: Container, command: string[]): string[] {
  const tools = join(dir, 'container-tools')
  const loader = copyTools(tools)
  return [...unshare, '--keep-caps', 'sh', '-c', script, 'sh', rootfs, tools, account.folder, loader, ...command]
}

/** Copies setpriv with its libraries, and returns the name of their loader. */
function copyTools(tools: string): string {
  mkdirSync(tools, { recursive: true })
  const libraries = execFileSync('ldd', ['/usr/bin/setpriv'], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
  for (const path of ['/usr/bin/setpriv', ...libraries]) copyFileSync(path, join(tools, basename(path)))
  const loader = libraries.map((path) => basename(path)).find((name) => name.startsWith('ld-'))
  if (loader === undefined) throw new Error('/usr/bin/setpriv (util-linux) has no loader; is it a static program?')
  return loader
}
