import { type Scraper, makeScraper } from '../whole/alerts/scraper.ts'
import type { Arena } from './arena.ts'
import { type Trouble, explained, lasting } from './troubles.ts'

/** Longer than the window of any alert: afterwards only present problems can fire one. */
const calmMinutes = 90
const scrapesPerSweep = 10

/** Scrapes the replicas: `during` the walk, and then in a calm time after all repairs. */
export function watchAlerts({ replicas }: Arena): Pick<Scraper, 'during' | 'recording'> & { calm(): Promise<void> } {
  const running = () => replicas.flatMap((replica) => (replica.isRunning() ? [[replica.name, replica] as const] : []))
  const scraper = makeScraper(running)
  return {
    during: scraper.during,
    recording: scraper.recording,
    calm: () =>
      scraper.pass(calmMinutes, async (n) => {
        if (n % scrapesPerSweep === 0) await scraper.nextSweep()
      }),
  }
}

/** The alerts that no trouble of the walk explains, and those that still fire after all repairs. */
export function alertViolations(alerts: { fired: string[]; atEnd: string[] }, troubles: Set<Trouble>): string[] {
  const allowed = new Set([...troubles].flatMap((trouble) => explained[trouble]))
  const left = new Set([...troubles].flatMap((trouble) => lasting[trouble] ?? []))
  return [
    ...alerts.fired.filter((name) => !allowed.has(name)).map((name) => `${name} fired, and nothing explains it`),
    ...alerts.atEnd
      .filter((name) => !left.has(name))
      .map((name) => `${name} fires or is about to, although all is repaired`),
  ]
}
