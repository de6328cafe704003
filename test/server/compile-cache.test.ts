import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { privateCacheFolder } from '../../server/compile-cache.ts'

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

test.run()
