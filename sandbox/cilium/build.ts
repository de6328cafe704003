// Builds Cilium's LB IPAM and BGP control plane from the Go module in this folder, once.
import { join } from 'node:path'
import { copyFromModule } from '../copy-from-module.ts'
import { goPrograms } from '../go-programs.ts'

const module = 'github.com/cilium/cilium'

/** The program, which runs as operator or agent, and the folder with its CRDs. */
export type CiliumPrograms = { cilium: string; crds: string }

/** Returns Cilium, and builds it if it is missing: minutes the first time. */
export async function ciliumPrograms(): Promise<CiliumPrograms> {
  const dir = import.meta.dirname
  const folder = await goPrograms({
    name: 'cilium',
    version: 'v1.20.2',
    dir,
    programs: [{ name: 'cilium', package: '.', built: 'cilium' }],
    flags: ['-trimpath', '-ldflags', '-s -w'],
    takes: 'two to eight minutes on 2 cores',
    add: (into) => copyFromModule({ module, dir, pattern: definitions, into: join(into, 'crds') }),
  })
  return { cilium: join(folder, 'cilium'), crds: join(folder, 'crds') }
}

const definitions = 'pkg/k8s/apis/cilium.io/client/crds/v2/cilium{bgp*,loadbalancerippools,nodes}.yaml'

if (import.meta.main) console.log(await ciliumPrograms())
