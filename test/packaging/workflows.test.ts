import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { actionlintProgram } from '../../sandbox/actionlint/build.ts'

const folder = join(import.meta.dirname, '..', '..', '.github', 'workflows')
const workflows = globSync('*.yaml', { cwd: folder }).map((name) => join(folder, name))
const actionlint = await actionlintProgram()
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-workflows-'))
const check = (files: string[]) => promisify(execFile)(actionlint, ['-no-color', ...files])

test('actionlint finds nothing in the workflows', async () => {
  assert.ok(workflows.length >= 2)
  await check(workflows)
})

test('actionlint finds a mistake where there is one', async () => {
  const [workflow = ''] = workflows
  const broken = join(dir, 'broken.yaml')
  writeFileSync(broken, readFileSync(workflow, 'utf8').replaceAll('runs-on', 'runs-in'))
  const result = await check([broken]).catch((error: { stdout: string }) => error)
  assert.match(result.stdout, 'unexpected key "runs-in"')
})

test('every action is pinned by its full commit, with its version beside it', () => {
  const uses = workflows.flatMap((file) => readFileSync(file, 'utf8').match(/uses: .*/g) ?? [])
  assert.ok(uses.length > 10)
  for (const line of uses) assert.match(line, /^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})

test('no job has more rights than reading, unless it declares them', () => {
  for (const file of workflows) assert.match(readFileSync(file, 'utf8'), /\npermissions:\n  contents: read\n/)
})

test.after(() => rmSync(dir, { recursive: true, force: true }))

test.run()
