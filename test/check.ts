// Every check that does not run the product. Each is a command that you can also run alone.
import { spawnSync } from 'node:child_process'

const checks = [
  ['types', 'tsc'],
  ['lint', 'oxlint --type-aware'],
  ['format', 'prettier --check --log-level warn .'],
  ['import law', 'node test/run.ts import-law'],
  ['documentation', 'node test/run.ts docs/'],
  ['dead code', 'knip'],
  ['generated files', 'node docs/generate.ts --check'],
]

const failed = checks.filter(([name = '', command = '']) => {
  const [program = '', ...args] = command.split(' ')
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  if (status !== 0) console.log(`     ${command}\n${error?.message ?? stdout + stderr}`)
  return status !== 0
})
process.exitCode = failed.length > 0 ? 1 : 0
