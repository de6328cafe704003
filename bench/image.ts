import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleRootfs } from '../packaging/rootfs.ts'

/** Runs work with the files of the image, and removes them afterwards. */
export async function withImage<T>(work: (rootfs: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
  try {
    const rootfs = join(dir, 'rootfs')
    await assembleRootfs(rootfs)
    return await work(rootfs)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
