#!/usr/bin/env node
// The entry point of `eip-admission`: the sources in a checkout, the bundle in the npm package, which has no sources.
import { existsSync } from 'node:fs'

const sources = new URL('../server/main.ts', import.meta.url)
await import(existsSync(sources) ? sources.href : '../dist/bundle/eip-admission.mjs')
