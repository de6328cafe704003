import { join } from 'node:path'
import { goPrograms } from '../go-programs.ts'

/** Returns the path of actionlint, which checks GitHub workflows; builds it the first time. */
export async function actionlintProgram(): Promise<string> {
  const folder = await goPrograms({
    name: 'actionlint',
    version: 'v1.7.12',
    dir: import.meta.dirname,
    programs: [{ name: 'actionlint', package: 'github.com/rhysd/actionlint/cmd/actionlint', built: 'actionlint' }],
    flags: ['-trimpath', '-ldflags', '-s -w'],
    takes: 'a few seconds',
  })
  return join(folder, 'actionlint')
}
