#!/usr/bin/env node
// The plugin of kubectl: `kubectl eip` runs the first program of this name in PATH. From the sources in a checkout, from
// the bundle in the npm package.
import { existsSync } from 'node:fs'

const sources = new URL('../kubectl-eip/main.ts', import.meta.url)
await import(existsSync(sources) ? sources.href : '../dist/bundle/kubectl-eip.mjs')
