import { cherryServersDialect } from './cherry-servers/provider.ts'
import { type Dialect, type DialectPredecessor, imagePattern } from './dialect/define-dialect.ts'
import { packetDialect } from './equinix-metal/packet/provider.ts'
import { equinixMetalDialect } from './equinix-metal/provider.ts'
import { hetznerDialect } from './hetzner/provider.ts'
import { phoenixnapDialect } from './phoenixnap/provider.ts'
import { scalewayDialect } from './scaleway/provider.ts'

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
export function replacedProgram(image: string): DialectPredecessor | undefined {
  return dialects.flatMap(({ predecessors }) => predecessors).find((one) => imagePattern(one).test(image))
}
