import { type LevelWithSilent, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino'

/** Logs to stdout: each entry as a line of JSON, or as a line of text with the same facts. */
export async function makeLog(options: { loggingFormat: 'text' | 'json'; verbosity: number }): Promise<Logger> {
  const settings: LoggerOptions = {
    base: null,
    level: levelOf(options.verbosity),
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { error: (error: unknown) => (error instanceof Error ? stdSerializers.err(error) : error) },
    redact: ['*.authorization', '*.headers', '*.token', '*.password'],
  }
  if (options.loggingFormat === 'json') return pino(settings)
  const { default: pretty } = await import('pino-pretty')
  const colorize = process.stdout.isTTY
  return pino(
    settings,
    pretty({ sync: true, singleLine: true, colorize, errorLikeObjectKeys: [], translateTime: 'SYS:HH:MM:ss.l' }),
  )
}

/** The numbers of upstream: 2 logs calls and their results, 5 logs everything. */
function levelOf(verbosity: number): LevelWithSilent {
  if (verbosity >= 5) return 'trace'
  return verbosity >= 2 ? 'debug' : 'info'
}
