#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import process from 'node:process'
import manifest from '../package.json' with { type: 'json' }

const { version } = manifest
const stopping = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => stopping.abort())
}

// Compiling is most of a start; what is imported from here on is compiled once a machine.
enableCompileCache()
const { run } = await import('./commands/run.ts')

const print = (text: string) => void process.stdout.write(text)
const world = { env: process.env, version, signal: stopping.signal, print }

try {
  process.exitCode = await run(process.argv.slice(2), {
    ...world,
    printError: (text) => void process.stderr.write(text),
    // Loaded when they run: `version` need not wait for a web server.
    serve: async (settings) => (await import('./serve.ts')).serve(settings, world),
    install: async (settings) => (await import('./commands/install.ts')).install(settings, world),
    cleanup: async (settings) => (await import('./commands/cleanup.ts')).cleanup(settings, world),
  })
} catch (error) {
  // Told to stop before it was ready: that is no failure.
  if (!stopping.signal.aborted) fail(error)
}

function fail(error: unknown): void {
  process.stderr.write(`eip-admission: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
