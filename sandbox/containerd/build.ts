// Builds containerd from the Go module in this folder, once: Debian's is too old for this kubelet.
import { goPrograms } from '../go-programs.ts'

const commands = 'github.com/containerd/containerd/v2/cmd'

/** Returns the folder with containerd, its shim and ctr, and builds them if they are missing: minutes the first time. */
export function containerdPrograms(): Promise<string> {
  return goPrograms({
    name: 'containerd',
    version: 'v2.3.7',
    dir: import.meta.dirname,
    programs: ['containerd', 'containerd-shim-runc-v2', 'ctr'].map((name) => ({
      name,
      package: `${commands}/${name}`,
      built: name,
    })),
    // Only overlay snapshots are used here, and the others need C libraries.
    flags: ['-trimpath', '-tags', 'no_btrfs no_zfs no_aufs no_devmapper', '-ldflags', '-s -w'],
    takes: 'about 6 minutes on 2 cores',
  })
}

if (import.meta.main) console.log(await containerdPrograms())
