// A world of one's own: root, network, processes and mounts, seen by nobody outside and gone with its last process.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const marker = 'EIP_ADMISSION_NAMESPACE'
const setpriv = '/usr/bin/setpriv'
const unshare = ['unshare', '-Urnm', '--pid', '--fork', '--kill-child', '--mount-proc']

/** `ip netns` keeps its names below /run; a fresh network has not even its loopback up. */
const prepare = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"'

/** The same command in namespaces of its own. It takes no root; everything in there ends when the command does. */
export function namespaced(command: string[]): string[] {
  // unshare does not mind a Ctrl-C, and the first process in a namespace does not either: they end with who started them.
  const tied = existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', '--'] : []
  return [...tied, ...unshare, 'sh', '-c', prepare, 'sh', 'env', `${marker}=1`, ...command]
}

/** Whether we run in namespaces of our own. */
export function isNamespaced(): boolean {
  return process.env[marker] !== undefined
}

/** Why this machine lets us have no namespaces, if it does not. */
export function findNamespaceProblem(): string | undefined {
  if (isNamespaced()) return undefined
  const [program = '', ...args] = namespaced(['ip', 'netns', 'add', 'probe'])
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0) return undefined
  const said = (error?.message ?? stderr).trim()
  return `namespaces for users are needed, and unshare (util-linux) and ip (iproute2): ${said}`
}
