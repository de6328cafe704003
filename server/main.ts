#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import process from 'node:process'
import { privateCacheFolder } from '../lib/compile-cache.ts'
import manifest from '../package.json' with { type: 'json' }

const { version } = manifest
const stopping = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => stopping.abort())
}
// Without a listener, SIGUSR1 would open Node's debugger to every user of the host, and SIGHUP would end the process.
for (const signal of ['SIGUSR1', 'SIGHUP'] as const) process.on(signal, () => {})

// `cleanup --yes | head -1` must not stop half-way because its reader has ended. A closed terminal returns EIO.
const readerGone = ['EPIPE', 'EIO']
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!readerGone.includes(error.code ?? '')) throw error
  })
}

// Compilation takes most of the startup time. Node caches the compiled code of all imports after this line.
const cache = privateCacheFolder(tmpdir(), process.getuid?.() ?? -1)
if (cache !== undefined) enableCompileCache(cache)
const { run } = await import('../commands/run.ts')

const print = (text: string) => void process.stdout.write(text)
const printError = (text: string) => void process.stderr.write(text)
// Only a person at a terminal waits for the output.
const progress = process.stderr.isTTY ? (text: string) => printError(`\r\x1b[K${text}`) : undefined
const endAtOnce = (reason: string) => {
  fail(new Error(reason))
  process.exit()
}
const host = { env: process.env, version, signal: stopping.signal, print, endAtOnce }

try {
  process.exitCode = await run(process.argv.slice(2), {
    ...host,
    printError,
    // Commands are loaded on demand, so that `version` does not load a web server.
    serve: async (settings) =>
      settings.process.only === 'control-plane'
        ? (await import('./serve-control-plane.ts')).serveControlPlane(settings, host)
        : (await import('./serve.ts')).serve(settings, host),
    install: async (settings) => (await import('../commands/install.ts')).install(settings, host),
    cleanup: async (settings) => (await import('../commands/cleanup.ts')).cleanup(settings, host),
    doctor: async (settings) =>
      (await import('../commands/doctor/doctor.ts')).doctor(settings, { ...host, ...(progress && { progress }) }),
    takeoverApply: async (settings) =>
      (await import('../commands/takeover/commands.ts')).takeoverApply(settings, { ...host, printError }),
    takeoverUndo: async (settings) =>
      (await import('../commands/takeover/commands.ts')).takeoverUndo(settings, { ...host, printError }),
    takeoverPlan: async (settings) =>
      (await import('../commands/takeover/commands.ts')).takeoverPlan(settings, { ...host, printError }),
  })
} catch (error) {
  // A signal before the process is ready is no failure.
  if (!stopping.signal.aborted) fail(error)
}

/** Prints the error, and ends the process as soon as its work has ended, or after a while. */
function fail(error: unknown): void {
  printFailure(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
  // The remaining work, such as a claim, gets this time. No line is lost, because log and errors are written synchronously.
  const endAnyway = () => {
    printFailure('something is still running 10 seconds after the failure; the process exits now')
    process.exit()
  }
  setTimeout(endAnyway, 10_000).unref()
}

function printFailure(text: string): void {
  process.stderr.write(`eip-admission: ${text}\n`)
}
