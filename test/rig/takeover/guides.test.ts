// The guides of two predecessors, typed word by word: plan, the chart by helm, apply, helm again, the way back, and
// once more.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../../sandbox/dialects.ts'
import { helmProgram } from '../../../sandbox/helm/build.ts'
import { shell } from '../../docs/ground.ts'
import { isCommands } from '../../docs/block-modes.ts'
import { type Page, parsePage, root } from '../../docs/pages.ts'
import { typeCommands } from '../../docs/type-commands.ts'
import { type PredecessorProgram, programs } from '../../predecessors/programs.ts'
import { askedBy } from '../../predecessors/asked-by.ts'
import { userOf } from '../../predecessors/manifests.ts'
import { installPredecessor, workloadControllers } from '../../predecessors/workload.ts'
import { dialectOf } from '../../whole/dialects.ts'
import { eventually } from '../../whole/eventually.ts'
import { loadBalancer } from '../../whole/manifests.ts'
import { type TestStage, openStage, routes } from '../../whole/test-stage.ts'
import { startKubelet } from '../pods/kubelet.ts'

const guides = [
  { file: 'docs/guides/from-equinix-metal.md', program: programs['CPEM 3.8'] },
  { file: 'docs/guides/from-cherry-servers.md', program: programs['Cherry main'] },
] as const

type Reader = { stage: TestStage; page: Page; dir: string; env: NodeJS.ProcessEnv }

/** Opens a cluster that a predecessor runs, with a node that runs the pods of the chart, for a reader with helm. */
async function onCluster(
  { file, program }: { file: string; program: PredecessorProgram },
  play: (reader: Reader) => Promise<void>,
): Promise<void> {
  const stage: TestStage = await openStage<PredecessorProgram['dialect']>({
    dialect: program.dialect,
    install: 'later',
    users: userOf(program),
    controllers: [...workloadControllers, 'job-controller', 'endpointslice-controller'],
  })
  const { cloud, project, token, controlPlane, client } = stage
  const access = { url: cloud.url, project, token }
  const kubelet = await startKubelet(controlPlane, client, {
    runs: ({ metadata }) => metadata.namespace === 'eip-admission',
  })
  const machine = cloud.control.devices.add({ hostname: 'node-a' }) as { id: unknown }
  const providerID = `${dialectOf(program.dialect).scheme}${String(machine.id)}`
  await stage.run('patch', 'node', 'node-a', '-p', JSON.stringify({ spec: { providerID } }))
  const settings = { loadbalancer: 'empty://' }
  const predecessor = await installPredecessor({ program, controlPlane, client, cloud: access, settings }, 'node-a')
  try {
    const { kubeconfig, kubectl, dir } = controlPlane
    const tools = [dirname(await helmProgram())]
    const ground = await shell({ dir, file: kubeconfig, kubectl, access, dialect: program.dialect, tools })
    // The page says where every setting belongs, so none is in the environment.
    const settled = dialects[program.dialect]
    const set = Object.keys({ ...settled.env(access), ...settled.defaultLocation })
    const env = Object.fromEntries(Object.entries(ground.env).filter(([name]) => !set.includes(name)))
    const page = parsePage(file, readFileSync(join(root, file), 'utf8'))
    await play({ stage, page, dir: ground.dir, env })
    assert.equal(predecessor.otherHosts, [])
  } finally {
    await predecessor.stop()
    await kubelet.stop()
    await stage.close()
  }
}

/** The commands below a heading of the page. */
function commandsOf({ text, file }: Page, heading: string): string {
  const [, part = ''] = text.split(new RegExp(`^## ${heading}$`, 'm'))
  const [own = ''] = part.split(/^## /m)
  const all = parsePage(file, own).blocks.filter(isCommands)
  assert.ok(all.length > 0, `${file} has commands below ${heading}`)
  return all.map((block) => block.text).join('\n')
}

/** Types what the page has below a heading, and returns what it prints. */
async function typed({ page, dir, env, stage }: Reader, heading: string): Promise<string> {
  const commands = commandsOf(page, heading)
  const { code, printed } = await typeCommands({ commands, dir, env, patienceMs: 480_000 })
  assert.is(code, 0, `${page.file}, ${heading}:\n${commands}\n${printed}`)
  assert.not.match(printed, stage.token)
  return printed
}

async function serve(stage: TestStage, name: string): Promise<string> {
  await stage.create(loadBalancer(name))
  return eventually(`${name} has an address`, async (observe) => askedBy(observe(await stage.service(name))))
}

for (const { file, program } of guides)
  test(`${file} holds as it is written, there, back and there again`, () =>
    onCluster({ file, program }, async (reader) => {
      const { stage } = reader
      const addresses = new Map([['web', await serve(stage, 'web')]])
      const stays = async () => {
        for (const [name, address] of addresses) assert.is(askedBy(await stage.service(name)), address)
        assert.is(stage.calls(routes.release), 0)
        assert.is(stage.reserved().length, addresses.size)
      }
      assert.match(await typed(reader, '1. Look'), /default\/web +[\d.]+ +stays +its reservation is adopted/)
      await typed(reader, '2. Prepare')
      assert.is(await replicas(stage), '0')
      await stays()
      const printed = await typed(reader, '3. Take over')
      assert.match(printed, 'Taken over: ')
      assert.match(printed, /default\.web +/)
      assert.match(printed, /ok +the announcing software shows every held address/)
      assert.is(await replicas(stage), '2')
      await stays()
      assert.match(await typed(reader, '1. Look'), 'Complete: eip-admission leads')
      addresses.set('new', await serve(stage, 'new'))
      assert.match(await typed(reader, 'The way back'), 'runs again')
      assert.is(await replicas(stage), '0')
      await stays()
      // The last step of the guide, after a last takeover, removes the predecessor and the record of the takeover.
      await typed(reader, '3. Take over')
      await typed(reader, 'If you stay')
      await stays()
      assert.match(await plain(reader, './bin/eip-admission takeover plan || true'), 'no predecessor was found')
    }))

async function plain({ dir, env }: Reader, commands: string): Promise<string> {
  return (await typeCommands({ commands, dir, env, patienceMs: 60_000 })).printed
}

function replicas(stage: TestStage): Promise<string> {
  return stage.run('get', 'deployment', '-n', 'eip-admission', 'eip-admission', '-o', 'jsonpath={.spec.replicas}')
}

test.run()
