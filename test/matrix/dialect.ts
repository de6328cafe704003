import { type DialectName, dialectNamed } from '../../sandbox/dialects.ts'
import type { StageOptions } from '../../sandbox/stage.ts'
import { dialectOf } from '../whole/dialects.ts'
import * as whole from '../whole/world.ts'

/** The dialect that this process tests: test/run.ts runs every file of this folder once for each. */
export const dialect = dialectOf(dialectNamed(process.env['DIALECT'] ?? 'equinix-metal'))

/** A world in that dialect. */
export function openWorld(options: Omit<StageOptions<DialectName>, 'dir' | 'dialect'> = {}): Promise<whole.World> {
  return whole.openWorld({ dialect: dialect.name, ...options })
}
