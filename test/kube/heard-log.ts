import type { Log } from '../../kube/log.ts'

export type Heard = { level: keyof Log; fields: Record<string, unknown>; message: string }

/** A log that remembers. */
export function heardLog(): Log & { lines: Heard[] } {
  const lines: Heard[] = []
  const at = (level: keyof Log) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
