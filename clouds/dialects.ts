import { cherryServersDialect } from './cherry-servers/provider.ts'
import { type Dialect, type DialectPredecessor, programIn } from './dialect/define-dialect.ts'
import { packetDialect } from './equinix-metal/packet/provider.ts'
import { equinixMetalDialect } from './equinix-metal/provider.ts'
import { hetznerDialect } from './hetzner/provider.ts'
import { phoenixnapDialect } from './phoenixnap/provider.ts'
import { scalewayDialect } from './scaleway/provider.ts'
import { type Workload, containersIn } from '../kube/workloads.ts'

/** Every dialect of every cloud, in the order of the documentation. */
export const dialects: readonly Dialect[] = [
  equinixMetalDialect,
  packetDialect,
  cherryServersDialect,
  hetznerDialect,
  scalewayDialect,
  phoenixnapDialect,
]

/** The program with this image that a dialect replaces; undefined for any other program. */
export function replacedProgram(workload: Workload): DialectPredecessor | undefined {
  const predecessors = dialects.flatMap((dialect) => dialect.predecessors)
  return programIn(predecessors, containersIn(workload), workload.metadata)?.program
}
