// Every check that does not run the product. Each is a command that you can also run alone. Checks with a cache take a
// tenth of the time when they run again.
import { spawnSync } from 'node:child_process'

const checks = [
  ['types', 'tsc --incremental --tsBuildInfoFile node_modules/.cache/types.json'],
  ['lint', 'oxlint --type-aware'],
  ['format', 'prettier --check --cache --cache-location=node_modules/.cache/prettier/check --log-level warn .'],
  ['import law', 'node test/run.ts import-law'],
  ['documentation', 'node test/run.ts docs/'],
  ['spelling', 'cspell --no-progress --no-summary --config docs/cspell.json'],
  ['dead code', 'knip --cache --cache-location node_modules/.cache/knip'],
  // Code that only tests reach: exports that no program of this repository uses.
  [
    'code for tests alone',
    'knip --production --config knip.production.json --cache --cache-location node_modules/.cache/knip-production',
  ],
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
