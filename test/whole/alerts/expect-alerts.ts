import * as assert from 'uvu/assert'
import { keepRecording } from '../../manifests/alert-recordings.ts'
import { recordVariable } from './record.ts'
import type { Scraper } from './scraper.ts'

export type Expected = {
  fired: string[]
  /** The alerts that fire, or are about to, at the end: all of them, unless given. */
  atEnd?: string[]
}

/** Checks that exactly these alerts fired in the scrapes; then keeps the recording under this name if requested. */
export async function expectAlerts(scraper: Scraper, name: string, { fired, atEnd = fired }: Expected): Promise<void> {
  const recording = await scraper.recording()
  const seen = { fired: recording.fired, atEnd: recording.atEnd }
  assert.equal(seen, { fired: fired.toSorted(), atEnd: atEnd.toSorted() })
  if (process.env[recordVariable] !== undefined) keepRecording(name, recording)
}
