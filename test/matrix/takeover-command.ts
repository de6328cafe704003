// `takeover apply` and `takeover undo` as a process, with a plan from a file instead of from a cloud.
import { readFileSync } from 'node:fs'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { applyInstallation } from '../../commands/install.ts'
import { resolveSettings } from '../../settings/resolve.ts'
import { takeoverUndoSettings } from '../../commands/settings/takeover-apply.ts'
import { applyWith, installSettingsOf, takeoverUndo } from '../../commands/takeover/commands.ts'
import type { TakeoverPlan } from '../../commands/takeover/plan/plan.ts'

const [command, planFile = '', ...given] = process.argv.slice(2)
const stopping = new AbortController()
process.once('SIGINT', () => stopping.abort())
const flags = Object.fromEntries(given.map((flag) => flag.split(/=(.*)/s).slice(0, 2) as [string, string]))
const installed = { webhookUrl: process.env['WEBHOOK_URL'], loadBalancer: undefined, loadBalancerManifest: undefined }
const deps = {
  env: {},
  version: 'test',
  signal: stopping.signal,
  lockMs: Number(process.env['LOCK_MS']),
  print: (text: string) => void process.stdout.write(text),
  printError: (text: string) => void process.stderr.write(text),
}
const { kubeconfig: file, ...work } = resolveSettings(takeoverUndoSettings, { flags, env: {} }).values
const credentials = kubeconfig({ file })
process.exitCode =
  command === 'undo'
    ? await takeoverUndo({ kubeconfig: file, ...work }, deps)
    : await applyWith(
        {
          makePlan: () => Promise.resolve(JSON.parse(readFileSync(planFile, 'utf8')) as TakeoverPlan),
          install: (plan) =>
            applyInstallation(installSettingsOf(plan, { ...installed, kubeconfig: file }), { ...deps, print() {} }),
        },
        { ...work, credentials },
        deps,
      )
