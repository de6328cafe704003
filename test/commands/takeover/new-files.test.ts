import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { writeFolder } from '../../../commands/takeover/commands.ts'

/** Runs a test in an empty folder, where a folder for files is to be written. */
function withFolder(run: (folder: string, write: () => void) => void): void {
  const parent = mkdtempSync(join(tmpdir(), 'eip-admission-files-'))
  const folder = join(parent, 'takeover')
  try {
    run(folder, () => writeFolder(folder, { 'values.yaml': 'new values', 'secret.yaml': 'new secret' }))
  } finally {
    rmSync(parent, { recursive: true })
  }
}

test('only their owner reads the files of a new folder', () =>
  withFolder((folder, write) => {
    write()
    assert.is(readFileSync(join(folder, 'values.yaml'), 'utf8'), 'new values')
    const modeOf = (path: string) => statSync(path).mode & 0o777
    assert.equal([modeOf(folder), modeOf(join(folder, 'secret.yaml'))], [0o700, 0o600])
  }))

test('where the folder exists, nothing is written and nothing is lost', () =>
  withFolder((folder, write) => {
    write()
    writeFileSync(join(folder, 'values.yaml'), 'edited')
    assert.throws(write, `--write=${folder}: exists already, and may hold your changes`)
    assert.is(readFileSync(join(folder, 'values.yaml'), 'utf8'), 'edited')
  }))

test('a link to another folder is not followed', () =>
  withFolder((folder, write) => {
    symlinkSync(tmpdir(), folder)
    assert.throws(write, 'exists already')
    assert.equal(readdirSync(join(folder, '..')), ['takeover'])
  }))

test.run()
