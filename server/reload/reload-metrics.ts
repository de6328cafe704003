import type { SettingsReload } from './settings-reload.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'

/** Whether the process does what its configuration file says. */
export function readReload(metrics: Metrics, reload: SettingsReload): void {
  metrics.read('eip_admission_settings_last_reload_successful', () => Number(reload.isTakenUp()))
  metrics.read('eip_admission_settings_need_restart', () => reload.needRestart().length)
}
