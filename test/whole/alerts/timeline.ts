// Hours of alerts from a minute of work: successive scrapes count as an interval of Prometheus apart. Times in the
// metrics shift with them; all other values stay.

export type Timeline = {
  /** The value that the metric would have had at the nth scrape. */
  valueOf(metric: string, value: number, n: number): number
}

/** Times in seconds since 1970. */
const times = new Set([
  'process_start_time_seconds',
  'eip_admission_last_sweep_timestamp_seconds',
  'eip_admission_cloud_last_success_timestamp_seconds',
  'eip_admission_cert_not_after_timestamp_seconds',
  'eip_admission_ca_not_after_timestamp_seconds',
])

/** Metrics of ages. They exclude watches, because a quiet one is silent for a minute of real time. */
const ages = new Set([
  'eip_admission_oldest_pending_seconds',
  'eip_admission_oldest_unannounced_seconds',
  'eip_admission_control_plane_cloud_read_age_seconds',
  'eip_admission_control_plane_silent_seconds',
])

/** The timeline of scrapes at these real times: the first is at 0, and each later one follows after an interval. */
export function timeline({ intervalS, scrapesMs }: { intervalS: number; scrapesMs: number[] }): Timeline {
  const realS = scrapesMs.map((ms) => ms / 1000)
  const shownS = (n: number) => n * intervalS
  /** Before the first scrape, and after the nth, time passes at its real pace. */
  const moved = (timeS: number, n: number) => {
    const [first = 0, now = 0] = [realS[0], realS[n]]
    if (timeS <= first) return timeS - first
    if (timeS >= now) return shownS(n) + (timeS - now)
    const before = realS.findLastIndex((scrapeS) => scrapeS <= timeS)
    const [beginS = 0, endS = 0] = [realS[before], realS[before + 1]]
    return shownS(before) + ((timeS - beginS) / (endS - beginS)) * intervalS
  }
  return {
    valueOf(metric, value, n) {
      if (times.has(metric)) return moved(value, n)
      if (ages.has(metric)) return shownS(n) - moved((realS[n] ?? 0) - value, n)
      return value
    },
  }
}
