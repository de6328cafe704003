#!/usr/bin/env node
import { tmpdir } from 'node:os'
import { enableCompileCache } from 'node:module'
import process from 'node:process'
import { privateCacheFolder } from '../lib/compile-cache.ts'
import manifest from '../package.json' with { type: 'json' }

const cache = privateCacheFolder(tmpdir(), process.getuid?.() ?? -1)
if (cache !== undefined) enableCompileCache(cache)
const { runPlugin } = await import('./program.ts')

// `kubectl eip list | head` closes our output early.
process.stdout.on('error', () => process.exit())

process.exitCode = await runPlugin(process.argv.slice(2), {
  version: manifest.version,
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  ask: process.stdin.isTTY ? ask : undefined,
  env: process.env,
  progress: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\x1b[K${text}`) : undefined,
})

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}
