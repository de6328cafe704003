// Builds the plugins that give a pod its network from the Go module in this folder, once.
import { goPrograms } from '../go-programs.ts'

const plugins = ['main/bridge', 'main/loopback', 'ipam/host-local']

/** Returns the folder with the plugins, and builds them if they are missing: a minute the first time. */
export function networkPlugins(): Promise<string> {
  return goPrograms({
    name: 'cni',
    version: 'v1.9.1',
    dir: import.meta.dirname,
    programs: plugins.map((path) => {
      const name = path.slice(path.indexOf('/') + 1)
      return { name, package: `github.com/containernetworking/plugins/plugins/${path}`, built: name }
    }),
    flags: ['-trimpath', '-ldflags', '-s -w'],
    takes: 'about a minute on 2 cores',
  })
}

if (import.meta.main) console.log(await networkPlugins())
