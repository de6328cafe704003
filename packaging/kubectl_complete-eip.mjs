#!/usr/bin/env node
// The program that kubectl runs to complete the words after `kubectl eip`.
import process from 'node:process'

process.argv.splice(2, 0, '__complete')
await import('./kubectl-eip.mjs')
