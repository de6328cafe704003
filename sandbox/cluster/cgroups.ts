import { existsSync, globSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = '/sys/fs/cgroup'
const needed = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd']

/**
 * The CPU weight of a node. By default, all its pods together would weigh as much as one other process of the machine.
 */
const shares = '6144'

/** Returns why this machine cannot run nodes; undefined if it can. */
export function findNodeProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make the namespaces and control groups of nodes'
  const missing = needed.filter((name) => !hierarchies().includes(name))
  return missing.length === 0 ? undefined : `kubelet needs the cgroup v1 hierarchies ${missing.join(', ')} here`
}

/** The hierarchies of cgroup v1 that kubelet needs; a machine with only v2 has none of them. */
function hierarchies(): string[] {
  return needed.filter((name) => existsSync(join(root, name, 'cgroup.procs')))
}

/** Makes the group of a node in each hierarchy. */
export function makeGroups(name: string): void {
  for (const hierarchy of hierarchies()) {
    const folder = join(root, hierarchy, name)
    mkdirSync(folder, { recursive: true })
    if (hierarchy === 'cpuset')
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        writeFileSync(join(folder, file), readFileSync(join(root, hierarchy, file)))
    if (hierarchy === 'cpu') writeFileSync(join(folder, 'cpu.shares'), shares)
  }
}

/** Removes the groups of a node with all below them, as soon as their last processes have ended. */
export async function removeGroups(name: string): Promise<void> {
  // containerd also makes groups in the v2 hierarchy, where makeGroups() has made none.
  const groups = () => globSync(`*/${name}{,/**/}`, { cwd: root }).toSorted((one, other) => other.length - one.length)
  for (let tries = 0; tries < 100 && groups().length > 0; tries += 1) {
    for (const group of groups()) {
      try {
        rmdirSync(join(root, group))
      } catch {
        // It is not a folder, or one of its processes is still exiting.
      }
    }
    await sleep(100)
  }
}
