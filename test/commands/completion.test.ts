import { execFileSync } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ProgramDeps, program, completionScript } from '../../commands/program.ts'

const root = program({ version: '', env: {} } as ProgramDeps)

/** The words that bash offers after these; the last one is being typed. */
function offered(...words: string[]): string[] {
  const typed = ['eip-admission', ...words].map((word) => `'${word}'`).join(' ')
  const script = `${completionScript(root, 'bash')}
COMP_WORDS=(${typed})
COMP_CWORD=${words.length}
_eip_admission
printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
}

test('bash offers commands, the commands below them, and their flags', () => {
  assert.equal(offered('do'), ['doctor'])
  assert.equal(offered('takeover', 'p'), ['plan'])
  assert.equal(offered('install', '--webhook-u'), ['--webhook-url'])
  assert.equal(offered('serve', '--v=2', '--cloud-pro'), ['--cloud-provider'])
  assert.ok(offered('takeover', 'apply', '--').includes('--kubeconfig'))
  assert.equal(offered('completion', 'nothing'), [''])
})

test('zsh reads the script of bash', () => {
  assert.is(
    completionScript(root, 'zsh'),
    `autoload -U +X bashcompinit && bashcompinit\n${completionScript(root, 'bash')}`,
  )
})

test('fish has a line for each command and each flag, with its meaning', () => {
  const lines = completionScript(root, 'fish').trim().split('\n')
  for (const command of root.commands) {
    assert.ok(
      lines.some((line) => line.includes(` -f -a ${command.name()} -d '`)),
      command.name(),
    )
    for (const { long, hidden } of command.options)
      if (long && !hidden)
        assert.ok(
          lines.some((line) => line.includes(`from ${command.name()}'`) && line.includes(` -l ${long.slice(2)} -d '`)),
          `${command.name()} ${long}`,
        )
  }
  // Quotes in a sentence end no word: each line has an even number of them that are not escaped.
  for (const line of lines) assert.is(line.replaceAll(/\\./g, '').split("'").length % 2, 1, line)
})

test.run()
