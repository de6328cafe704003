// A step of the demo: the machine with the control-plane address fails, and the address moves. `make demo` starts this
// file as a process in namespaces of its own, which act as three machines.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardianUsers, startGuardians } from './control-planes/guardian.ts'
import { type ControlPlanes, startControlPlanes } from './control-planes/stage.ts'
import { check, printDetail, printHeading, showKubectl, waitUntil } from './terminal.ts'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

async function failOver(planes: ControlPlanes): Promise<void> {
  const { cloud, client, machine } = planes
  printHeading('The address of the API server moves when its machine fails (a third cluster, on Equinix Metal)')
  const [before = ''] = cloud.holders()
  printDetail(`The provider assigns ${cloud.address} to ${before}. A client reads through it 20 times a second.`)
  await client.untilAnswered(10, 10_000)

  const fromMs = Date.now()
  printDetail(`Now ${before} loses power.`)
  await machine(before).gone()
  await client.untilAnswered(5, 30_000)
  const { longestGapMs, failed, lost } = await client.lossSince(fromMs)
  const [after = ''] = cloud.holders()
  printDetail(`${after} has the address. The client had no answer for ${seconds(longestGapMs)}.`)
  printDetail(`${failed} of its reads failed; ${lost} of them failed again at once.`)
  check(after !== before, 'the address moved to a machine that answers')

  const kubectl = planes.kubectlAt(machine(after))
  const moved = ['--field-selector', 'reason=ControlPlaneAddressMoved']
  const events = ['get', 'events', '-A', ...moved, '-o', 'custom-columns=ON:.involvedObject.name,MESSAGE:.message']
  await waitUntil(async () => (await kubectl(events)).stdout.includes('moved from'))
  const { stdout } = await showKubectl({ kubectl }, events)
  check(stdout.includes(`to ${after}`), 'Events on both nodes and on the Service of the address say what was done')
}

if (import.meta.main) {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  let planes: ControlPlanes | undefined
  try {
    planes = await startControlPlanes({ dir, users: guardianUsers })
    // Fewer good answers make a candidate, so that the demo need not wait for ten of them.
    await startGuardians(planes, ['--control-plane-probe-successes=2'])
    await failOver(planes)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  } finally {
    await planes?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
