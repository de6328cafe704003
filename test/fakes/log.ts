import type { Log } from '../../kube/log.ts'

const ignore = () => {}

/** A log that drops its lines, for tests that do not read them. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
