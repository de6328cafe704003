// Which alerts the guardians of the control-plane address fire, by what they really showed.
import { test } from 'uvu'
import { expectAlerts } from './expect-alerts.ts'
import { type Scraper, makeScraper } from './scraper.ts'
import { eventually } from '../eventually.ts'
import { type ProbeResult, openGuardedStage } from '../../matrix/guarded-stage.ts'

const stage = await openGuardedStage()
await Promise.all(stage.nodes.map((node) => stage.guard(node)))
await eventually('a guardian leads', () => stage.leader())

const scraperOf = (): Scraper =>
  makeScraper(() => stage.guardians.filter((one) => one.isRunning()).map((one) => [one.node.name, one] as const))
/** Each guardian probes each node between two scrapes, which is once in half a minute. */
const pass = (scraper: Scraper, minutes: number, result: ProbeResult) =>
  scraper.pass(minutes, () => stage.untilProbed(stage.nodes, result, 1))

/** Only guardians run here. */
const noReplica = 'EIPAdmissionDown'

test('API servers that all fail call a person once', async () => {
  const scraper = scraperOf()
  await pass(scraper, 6, 'ok')
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('refuses')))
  await pass(scraper, 20, 'failed')
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('well')))
  await expectAlerts(scraper, 'api-servers-fail', {
    fired: ['EIPAdmissionControlPlaneHolderSilent', noReplica],
  })
})

test('guardians that all are gone are noticed', async () => {
  const scraper = scraperOf()
  await pass(scraper, 3, 'ok')
  await Promise.all(stage.guardians.map((guardian) => guardian.stop()))
  await scraper.pass(15, async () => {})
  await expectAlerts(scraper, 'guardians-gone', { fired: ['EIPAdmissionControlPlaneUnguarded', noReplica] })
})

test.after(() => stage.close())

test.run()
