import { test } from 'uvu'
import { type DialectName, dialectNamed } from '../../sandbox/dialects.ts'
import { dialectOf } from '../whole/dialects.ts'
import * as whole from '../whole/test-stage.ts'

/** The dialect that this process tests. test/run.ts sets it, by dialects-by-file.ts or by a word. */
export const dialect = dialectOf(dialectNamed(process.env['DIALECT'] ?? 'equinix-metal'))

/** The calls of its cloud about reservations. */
export const { routes } = dialect

/** Whether to run only the tests that involve the vendor's API. */
export const isCloudOnly = process.env['CLOUD_ONLY'] === 'true'

type Declare = (name: string, body: () => Promise<void>) => void

/** Declares a test that does not involve the vendor's API. */
export const clusterTest: Declare = isCloudOnly ? () => {} : test

/** Opens a stage in that dialect. */
export function openStage(
  options: Omit<whole.TestStageOptions<DialectName>, 'dialect'> = {},
): Promise<whole.TestStage> {
  return whole.openStage({ dialect: dialect.name, ...options })
}
