import { type LevelWithSilent, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino'
import { escapeMisleading } from './log-text.ts'

export type LogOptions = { loggingFormat: 'text' | 'json'; verbosity: number }

/** Where the lines go; stdout if absent. */
export type LogOutput = { write(text: string): void; isTTY?: boolean }

/** Logs each entry as a line of JSON, or as a line of text with the same facts. */
export async function makeLog(options: LogOptions, output: LogOutput = stdout()): Promise<Logger> {
  const settings: LoggerOptions = {
    base: null,
    level: levelOf(options.verbosity),
    // Collectors know the words, not pino's numbers.
    formatters: { level: (level) => ({ level }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { error: (error: unknown) => (error instanceof Error ? stdSerializers.err(error) : error) },
    redact: ['*.authorization', '*.headers', '*.token', '*.password'],
  }
  const format = options.loggingFormat === 'json' ? (line: string) => line : await textFormat(output.isTTY ?? false)
  return pino(settings, { write: (line) => output.write(escapeMisleading(format(line))) })
}

/** Lines are written at once, so that none is lost when the process ends. */
function stdout(): LogOutput {
  const destination = pino.destination({ dest: process.stdout.fd, sync: true })
  return { write: (text) => void destination.write(text), isTTY: process.stdout.isTTY }
}

async function textFormat(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  return prettyFactory({
    singleLine: true,
    colorize,
    errorLikeObjectKeys: [],
    translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'",
  })
}

/** The numbers of upstream: 2 logs calls and their results, 5 also reads of the API server, which are many. */
function levelOf(verbosity: number): LevelWithSilent {
  if (verbosity >= 5) return 'trace'
  return verbosity >= 2 ? 'debug' : 'info'
}
