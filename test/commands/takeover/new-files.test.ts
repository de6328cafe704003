import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { writeNewFiles } from '../../../commands/takeover/commands.ts'

/** Runs a test with two files that are to be written, in a folder that has these. */
function withFolder(
  files: Record<string, string>,
  run: (folder: string, write: () => string | undefined) => void,
): void {
  const folder = mkdtempSync(join(tmpdir(), 'eip-admission-files-'))
  const at = (name: string) => join(folder, name)
  const write = () => {
    try {
      writeNewFiles([
        { flag: '--write-values', path: at('values.yaml'), text: 'new values' },
        { flag: '--write-secret', path: at('secret.yaml'), text: 'new secret', mode: 0o600 },
      ])
      return undefined
    } catch (error) {
      return (error as Error).message.replaceAll(folder, '')
    }
  }
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text)
    run(folder, write)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('both files are new, and only their owner reads the Secret', () =>
  withFolder({}, (folder, write) => {
    assert.is(write(), undefined)
    assert.is(readFileSync(join(folder, 'values.yaml'), 'utf8'), 'new values')
    assert.is(statSync(join(folder, 'secret.yaml')).mode & 0o777, 0o600)
  }))

for (const name of ['values.yaml', 'secret.yaml'])
  test(`where ${name} exists, nothing is written and nothing is lost`, () =>
    withFolder({ [name]: 'edited' }, (folder, write) => {
      assert.is(
        write(),
        `--write-${name.replace('.yaml', '')}=/${name}: exists already, and may hold your changes; name a file that does not exist yet. Nothing was written`,
      )
      assert.equal(readdirSync(folder), [name])
      assert.is(readFileSync(join(folder, name), 'utf8'), 'edited')
    }))

test('a link to another place is not followed', () =>
  withFolder({}, (folder, write) => {
    symlinkSync('/nowhere', join(folder, 'secret.yaml'))
    assert.match(write() ?? '', '--write-secret=/secret.yaml: exists already')
    assert.equal(readdirSync(folder), ['secret.yaml'])
  }))

test.run()
