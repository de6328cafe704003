// The alerts that the guardians of the control-plane address fire, by their real metrics.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import { expectAlerts } from './expect-alerts.ts'
import { type Scraper, makeScraper } from './scraper.ts'
import { eventually } from '../eventually.ts'
import { openGuardedStage, probeIntervalMs } from '../../matrix/guarded-stage.ts'

const stage = await openGuardedStage()
await Promise.all(stage.nodes.map((node) => stage.guard(node)))
await eventually('a guardian leads', () => stage.leader())
// Before this, a guardian may not have read the cloud.
await stage.untilSettled()

const scraperOf = (): Scraper =>
  makeScraper(() => stage.guardians.filter((one) => one.isRunning()).map((one) => [one.node.name, one] as const))
/** Scrapes as slowly as guardians probe, so that each recorded interval has a probe. */
const pass = (scraper: Scraper, minutes: number) => scraper.pass(minutes, () => sleep(probeIntervalMs))

/** Only guardians run here. */
const noReplica = 'EIPAdmissionDown'

test('API servers that all fail call a person once', async () => {
  const scraper = scraperOf()
  await pass(scraper, 6)
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('refuses')))
  await pass(scraper, 20)
  await Promise.all(stage.nodes.map(({ gate }) => gate.set('well')))
  await expectAlerts(scraper, 'api-servers-fail', {
    fired: ['EIPAdmissionControlPlaneHolderSilent', noReplica],
  })
})

test('guardians that all no longer exist are noticed', async () => {
  const scraper = scraperOf()
  await pass(scraper, 3)
  await Promise.all(stage.guardians.map((guardian) => guardian.stop()))
  await scraper.pass(15, async () => {})
  await expectAlerts(scraper, 'guardians-gone', { fired: ['EIPAdmissionControlPlaneUnguarded', noReplica] })
})

test.after(() => stage.close())

test.run()
