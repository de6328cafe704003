// The smoke part of the suite, with the product as pods run it: from the files of the image.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import { assembleRootfs } from '../../packaging/rootfs.ts'
import { rootfsVariable } from '../../sandbox/stage.ts'

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-image-'))
test.after(() => rmSync(dir, { recursive: true, force: true }))
const rootfs = join(dir, 'rootfs')
await assembleRootfs(rootfs)
Object.assign(process.env, { [rootfsVariable]: rootfs, DIALECT: 'equinix-metal' })
await import('../matrix/smoke.test.ts')
