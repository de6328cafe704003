// Runs commands in separate namespaces for users, network, processes and mounts, which end with their last process.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const marker = 'EIP_ADMISSION_NAMESPACE'
const setpriv = '/usr/bin/setpriv'
const userNamespaces = '/proc/sys/user/max_user_namespaces'

/** Root needs no namespace for users, and a kernel may allow none. */
function unshare(as: 'anybody' | 'root'): string[] {
  const isForRoot =
    process.getuid?.() === 0 && existsSync(userNamespaces) && readFileSync(userNamespaces, 'utf8').trim() === '0'
  return ['unshare', isForRoot || as === 'root' ? '-nm' : '-Urnm', '--pid', '--fork', '--kill-child', '--mount-proc']
}

/** `ip netns` keeps names below /run; in a new network namespace even the loopback interface is down. */
const prepare = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"'

/**
 * Returns a command that runs the given one in separate namespaces, also without root; all processes end with it. A
 * command that writes to the machine's control groups must run as the machine's root.
 */
export function namespaced(command: string[], as: 'anybody' | 'root' = 'anybody'): string[] {
  // unshare and the first process in a namespace ignore Ctrl-C; setpriv ends them with the process that started them.
  const wrapped = existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', '--'] : []
  return [...wrapped, ...unshare(as), 'sh', '-c', prepare, 'sh', 'env', `${marker}=1`, ...command]
}

/** Whether this process runs in such namespaces. */
export function isNamespaced(): boolean {
  return process.env[marker] !== undefined
}

/** Returns why this machine cannot create namespaces; undefined if it can. */
export function findNamespaceProblem(): string | undefined {
  if (isNamespaced()) return undefined
  const [program = '', ...args] = namespaced(['ip', 'netns', 'add', 'probe'])
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0) return undefined
  const message = (error?.message ?? stderr).trim()
  return `user namespaces, unshare (util-linux) and ip (iproute2) are required: ${message}`
}
