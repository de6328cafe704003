import type { Log } from '../../kube/log.ts'

export type LogLine = { level: keyof Log; fields: Record<string, unknown>; message: string }

/** A log that keeps its lines. */
export function recordedLog(): Log & { lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: keyof Log) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
