import type { Log } from '../../kube/log.ts'

const ignore = () => {}

/** For tests in which nobody reads the log. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
