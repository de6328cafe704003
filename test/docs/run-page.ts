import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Ground, openCluster, openSandbox } from './ground.ts'
import { fileOf, groundOf, isCommands, markOf, preparationOf, stepsOf, withoutChance } from './marks.ts'
import type { Block, Page } from './pages.ts'

/** Long enough for a rollout on a slow machine; a command that hangs ends. */
const patienceMs = 150_000

/** Whether a page has a block to run. */
export function hasCommands({ blocks }: Page): boolean {
  return blocks.some((block) => isCommands(block) && markOf(block).kind === 'run')
}

/** Does what a page says, from its first block to its last, and compares what it shows. */
export async function runPage(page: Page): Promise<void> {
  const { isEmpty, flags } = groundOf(page)
  const ground = await (isEmpty ? openCluster() : openSandbox(flags))
  try {
    const preparation = preparationOf(page)
    if (preparation !== '') await type({ commands: preparation, place: `${page.file}: its preparation` }, ground)
    for (const block of page.blocks) await follow(block, ground)
  } finally {
    await ground.close()
  }
}

async function follow(block: Block, ground: Ground): Promise<void> {
  const file = fileOf(block)
  if (file !== undefined) {
    mkdirSync(dirname(join(ground.dir, file)), { recursive: true })
    writeFileSync(join(ground.dir, file), block.text)
  }
  const mark = markOf(block)
  if (!isCommands(block) || mark.kind !== 'run') return
  for (const { command, output } of stepsOf(block)) {
    const printed = await type({ commands: command, place: block.place, mustFail: mark.mustFail }, ground)
    if (output !== undefined)
      assert.is(withoutChance(printed), withoutChance(output), `${block.place}: $ ${command}\n${printed}`)
  }
}

/** Names that the preparation of the page found out: a file with the name in the page and the one here, in each line. */
function namesOf(dir: string): [string, string][] {
  const file = join(dir, 'names')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  return lines.map((line) => line.split('\t') as [string, string])
}

type Typing = { commands: string; place: string; mustFail?: boolean }

/** Types commands and returns what they print. Throws if they fail, or if they do not although they must. */
async function type(
  { commands, place, mustFail = false }: Typing,
  { dir, env, readersNames }: Ground,
): Promise<string> {
  const typed = [...readersNames, ...namesOf(dir)].reduce((text, [shown, own]) => text.replaceAll(shown, own), commands)
  const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', typed], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patienceMs,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if ((code === 0) === mustFail) throw new Error(`${place}: exit code ${code}\n${commands}\n${printed}`)
  return printed
}
