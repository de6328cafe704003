import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { promisify } from 'node:util'

/** More than one test uses, so that no two authorities or leaves of a test share a pair. */
const size = 12

type Pair = { publicKey: string; privateKey: string }
type Generate = (type: 'rsa', options: object) => Promise<Pair>

/**
 * From now on this process gets its RSA pairs from a pool, in turn. A pair costs about 100 ms of a processor, and the
 * tests of rotation need some eighty.
 */
export function poolKeys(): void {
  const generate = promisify(crypto.generateKeyPair) as unknown as Generate
  const pool: Promise<Pair>[] = []
  let count = 0
  const next: Generate = (type, options) => {
    const place = count % size
    count += 1
    return (pool[place] ??= generate(type, options))
  }
  crypto.generateKeyPair = Object.assign(() => {}, { [promisify.custom]: next }) as never
  syncBuiltinESMExports()
}
