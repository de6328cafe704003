import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSettingsFile } from '../../settings/file.ts'
import type { SettingsFile } from '../../settings/file.ts'

function read(content: string): SettingsFile {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  try {
    const path = join(folder, 'cloud-sa.json')
    writeFileSync(path, content)
    return readSettingsFile(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the fields of a file are read as they are', () => {
  const { fields, problems } = read('{"apiKey": "k", "projectID": 12, "loadbalancer": null}')
  assert.equal(fields, { apiKey: 'k', projectID: 12, loadbalancer: null })
  assert.equal(problems, [])
})

const broken: [name: string, content: string, wrong: RegExp][] = [
  ['an empty file', '', /^is not JSON$/],
  ['a list', '["hidden"]', /^holds a list, not an object$/],
  ['a text', '"hidden"', /^holds a string, not an object$/],
  ['null', 'null', /^holds null, not an object$/],
  ['a file cut off', '{"apiKey": "hidden"', /^is not JSON \(line 1 column 20\)$/],
  ['a file with a comma too many', '{\n  "apiKey": "hidden",\n}', /^is not JSON \(line 3 column 1\)$/],
  ['a key without quotes', '{ hidden: 1 }', /^is not JSON \(line 1 column 3\)$/],
  ['a bare secret', 'hidden', /^is not JSON$/],
  ['YAML', 'apiKey: hidden', /^is not JSON$/],
]
for (const [name, content, wrong] of broken) {
  test(`${name} is reported without its content`, () => {
    const file = read(content)
    assert.is(file.problems.length, 1)
    assert.match(file.problems[0]?.wrong ?? '', wrong)
    assert.equal(file.fields, {})
    assert.not.match(inspect(file, { depth: null }), 'hidden')
  })
}

test('the problem of a missing file names its path', () => {
  const [problem] = readSettingsFile('/nowhere/cloud-sa.json').problems
  assert.equal([problem?.source, problem?.wrong], ['/nowhere/cloud-sa.json', 'does not exist'])
})

test('a pipe is reported without waiting for its writer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  assert.is(readSettingsFile(path).problems[0]?.wrong, 'is not a regular file')
  rmSync(folder, { recursive: true })
})

test('a file of gigabytes is reported, and not read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  const path = join(folder, 'large')
  writeFileSync(path, '')
  truncateSync(path, 10 * 2 ** 30)
  assert.is(readSettingsFile(path).problems[0]?.wrong, 'has 10737418240 bytes, more than 1 MiB')
  rmSync(folder, { recursive: true })
})

test('a directory is reported as one', () => {
  assert.is(readSettingsFile(tmpdir()).problems[0]?.wrong, 'is a directory')
})

test.run()
