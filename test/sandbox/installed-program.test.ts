import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { installedProgram } from '../../sandbox/installed-program.ts'

const check = { args: ['--version'], pattern: /Version: v?(\S+)/, from: '1.35.0', below: '1.38.0' }

const cases: { prints: string; exit?: number; isUsed: boolean }[] = [
  { prints: 'Version: v1.34.9', isUsed: false },
  { prints: 'Version: v1.35.0', isUsed: true },
  { prints: 'Version: 1.36.3-4+b1', isUsed: true },
  { prints: 'Version: v1.37.12', isUsed: true },
  { prints: 'Version: v1.38.0', isUsed: false },
  { prints: 'Version: v1.100.0', isUsed: false },
  { prints: 'no version here', isUsed: false },
  { prints: 'Version: v1.36.3', exit: 1, isUsed: false },
]

const { PATH } = process.env

for (const { prints, exit = 0, isUsed } of cases) {
  test(`a program that prints "${prints}" and exits with ${exit} is ${isUsed ? '' : 'not '}used`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'installed-'))
    try {
      const program = join(folder, 'tool')
      writeFileSync(program, `#!/bin/sh\necho '${prints}'\nexit ${exit}\n`)
      chmodSync(program, 0o755)
      process.env.PATH = [folder, PATH].join(delimiter)
      assert.is(await installedProgram('tool', check), isUsed ? program : undefined)
    } finally {
      process.env.PATH = PATH
      rmSync(folder, { recursive: true })
    }
  })
}

test('a program that the machine does not have is built', async () => {
  assert.is(await installedProgram('tool-that-nobody-has', check), undefined)
})

test.run()
