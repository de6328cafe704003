import { existsSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'

/**
 * A stack trace with the files and lines of our sources, where we run from a bundle. Node would do so by itself with
 * --enable-source-maps, but then it keeps every map in memory: 30 MiB. This reads them when an error is logged.
 */
export function originalStack(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  return stack.replaceAll(/file:\/\/(\/[^\s:)]+\.mjs):(\d+):(\d+)/g, (place, ...at: string[]) => {
    const [file = '', line, column] = at
    if (!maps.has(file)) maps.set(file, mapOf(file))
    return originalPlace(maps.get(file), { line: Number(line), column: Number(column) }) ?? place
  })
}

/** A map that cannot be read is no reason to lose the error that is being logged. */
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
  // What the bundler added has an entry without a source.
  const original: string | undefined = entry && 'originalSource' in entry ? entry.originalSource : undefined
  if (entry === undefined || !('originalLine' in entry) || original === undefined) return undefined
  const source = original.replace(/^(\.\.\/)+/, '')
  // Packages have a name in our maps, but no lines.
  return source.startsWith('node_modules/') ? source : `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}
