import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Ground, openCluster, openSandbox } from './ground.ts'
import { fileOf, groundOf, isCommands, modeOf, preparationOf, stepsOf, withoutChance } from './block-modes.ts'
import { type Block, type Page, allPages } from './pages.ts'
import { typeCommands } from './type-commands.ts'

/** Long enough for a rollout on a slow machine; a command that hangs ends. */
const patienceMs = 150_000

/** The pages with commands that run in the sandbox, where the product is. */
export function sandboxPages(): Page[] {
  return pagesToRun().filter((page) => !groundOf(page).isEmpty)
}

/** The pages with commands that run on a cluster without the product. */
export function clusterPages(): Page[] {
  return pagesToRun().filter((page) => groundOf(page).isEmpty)
}

function pagesToRun(): Page[] {
  return allPages().filter(({ blocks }) => blocks.some((block) => isCommands(block) && modeOf(block).kind === 'run'))
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
    writeFileSync(join(ground.dir, file), asTyped(block.text, ground))
  }
  const mode = modeOf(block)
  if (!isCommands(block) || mode.kind !== 'run') return
  for (const { command, output } of stepsOf(block)) {
    const printed = await type({ commands: command, place: block.place, mustFail: mode.mustFail }, ground)
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

/** A text of the page with what this reader has in the place of its names. */
function asTyped(text: string, { dir, readersNames }: Pick<Ground, 'dir' | 'readersNames'>): string {
  return [...readersNames, ...namesOf(dir)].reduce((typed, [shown, own]) => typed.replaceAll(shown, own), text)
}

type Typed = { commands: string; place: string; mustFail?: boolean }

/** Types commands and returns what they print. Throws if they fail, or if they do not although they must. */
async function type({ commands, place, mustFail = false }: Typed, { dir, env, readersNames }: Ground): Promise<string> {
  const { code, printed } = await typeCommands({
    commands: asTyped(commands, { dir, readersNames }),
    dir,
    env,
    patienceMs,
  }).catch((error: unknown) => {
    throw new Error(`${place}: ${String(error)}`, { cause: error })
  })
  if ((code === 0) === mustFail) throw new Error(`${place}: exit code ${code}\n${commands}\n${printed}`)
  return printed
}
