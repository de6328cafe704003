import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { privateCacheFolder } from '../../lib/compile-cache.ts'

const uid = process.getuid?.() ?? 0

function inFolder(play: (folder: string) => void) {
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
    try {
      play(folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

test(
  'a folder that only we may enter is made once and used again',
  inFolder((parent) => {
    const folder = privateCacheFolder(parent, uid)
    assert.is(lstatSync(folder ?? '').mode & 0o777, 0o700)
    assert.is(privateCacheFolder(parent, uid), folder)
  }),
)

for (const [name, prepare] of [
  ['that others may write to', (path) => (mkdirSync(path), chmodSync(path, 0o777))],
  ['that others may read', (path) => (mkdirSync(path), chmodSync(path, 0o755))],
  ['that is a link', (path) => symlinkSync(tmpdir(), path)],
] as [string, (path: string) => void][]) {
  test(
    `a folder ${name} is not used`,
    inFolder((parent) => {
      prepare(join(parent, `eip-admission-${uid}`))
      assert.is(privateCacheFolder(parent, uid), undefined)
    }),
  )
}

test(
  'a folder of another user is not used',
  inFolder((parent) => {
    // Ours, seen as another user would see it.
    mkdirSync(join(parent, `eip-admission-${uid + 1}`), { mode: 0o700 })
    assert.is(privateCacheFolder(parent, uid + 1), undefined)
  }),
)

test(
  'a folder that somebody could replace is not used, but one in a sticky folder is',
  inFolder((parent) => {
    chmodSync(parent, 0o777)
    assert.is(privateCacheFolder(parent, uid), undefined)
    chmodSync(parent, 0o1777)
    assert.ok(privateCacheFolder(parent, uid))
  }),
)

test(
  'without a place to write there is none',
  inFolder((parent) => assert.is(privateCacheFolder(join(parent, 'absent'), uid), undefined)),
)

for (const isPrepared of [false, true])
  test(
    `the program keeps its compiled code in its own folder only${isPrepared ? ', and in none where another program made it' : ''}`,
    inFolder((parent) => {
      const [own, common] = [join(parent, `eip-admission-${uid}`), join(parent, 'node-compile-cache')]
      const folders = isPrepared ? [own, common] : [common]
      for (const path of folders) {
        mkdirSync(path)
        chmodSync(path, 0o777)
      }
      const main = join(import.meta.dirname, '..', '..', 'server', 'main.ts')
      execFileSync(process.execPath, [main, 'version'], { env: { TMPDIR: parent } })
      assert.equal(readdirSync(common), [])
      assert.is(readdirSync(own).length > 0, !isPrepared)
    }),
  )

test.run()
