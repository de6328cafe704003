import { type LevelWithSilent, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino'
import { currentRequestId } from '../lib/request-id.ts'
import { escapeMisleading } from '../lib/text.ts'
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'

export type LogOptions = { loggingFormat: 'text' | 'json'; verbosity: number }

/** Where the lines go; stdout if absent. */
export type LogOutput = { write(text: string): void; hasColors?: boolean }

/** Logs each entry as a line of JSON, or as a line of text with the same facts. */
export async function makeLog(options: LogOptions, output: LogOutput = stdout()): Promise<Logger> {
  const settings: LoggerOptions = {
    base: null,
    // A line that concerns a request for an address names that request.
    mixin: requestField,
    level: levelOf(options.verbosity),
    // Log collectors know the words, not pino's numbers.
    formatters: { level: (level) => ({ level }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { error: (error: unknown) => (error instanceof Error ? serialized(error) : error) },
    redact: ['*.authorization', '*.headers', '*.token', '*.password'],
  }
  const format = options.loggingFormat === 'json' ? (line: string) => line : await textFormat(output)
  return pino(settings, { write: (line) => output.write(escapeMisleading(format(line))) })
}

function requestField(): object {
  const request = currentRequestId()
  return request === undefined ? {} : { request }
}

function serialized(error: Error): object {
  const { stack, ...facts } = stdSerializers.err(error)
  return { ...facts, stack: originalStack(stack) }
}

/** Lines are written synchronously, so that none is lost when the process ends. */
function stdout(): LogOutput {
  const destination = pino.destination({ dest: process.stdout.fd, sync: true })
  // Node honors NO_COLOR here.
  const hasColors = process.stdout.isTTY && process.stdout.hasColors()
  return { write: (text) => void destination.write(text), hasColors }
}

async function textFormat({ hasColors = false }: LogOutput): Promise<(line: string) => string> {
  return (await import('./log-text-format.ts')).textFormat(hasColors)
}

/**
 * Upstream's numbers: 2 logs calls and their results, 3 also their objects. 5 adds the many reads of the API server.
 */
function levelOf(verbosity: number): LevelWithSilent {
  if (verbosity >= 5) return 'trace'
  return verbosity >= 2 ? 'debug' : 'info'
}

/**
 * A stack trace with the files and lines of our sources, when we run from a bundle. Node's --enable-source-maps does
 * the same, but keeps every map in memory: 30 MiB. This reads them only when an error is logged.
 */
export function originalStack(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  return stack.replaceAll(/file:\/\/(\/[^\s:)]+\.mjs):(\d+):(\d+)/g, (place, ...at: string[]) => {
    const [file = '', line, column] = at
    if (!maps.has(file)) maps.set(file, mapOf(file))
    return originalPlace(maps.get(file), { line: Number(line), column: Number(column) }) ?? place
  })
}

/** An unreadable map is no reason to lose the logged error. */
function mapOf(file: string): SourceMap | undefined {
  const path = `${file}.map`
  try {
    return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload) : undefined
  } catch {
    return undefined
  }
}

/** Source maps count from 0, people and stack traces from 1. */
function originalPlace(map: SourceMap | undefined, at: { line: number; column: number }): string | undefined {
  const entry = map?.findEntry(at.line - 1, at.column - 1)
  // Code that the bundler added has an entry without a source.
  const original: string | undefined = entry && 'originalSource' in entry ? entry.originalSource : undefined
  if (entry === undefined || !('originalLine' in entry) || original === undefined) return undefined
  const source = original.replace(/^(\.\.\/)+/, '')
  // Packages have names in our maps, but no lines.
  return source.startsWith('node_modules/') ? source : `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}
