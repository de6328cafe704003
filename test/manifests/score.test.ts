// kube-score judges the chart. Each exception has a reason; one that no object needs any more is a failure.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { chartFolder, runHelm } from '../../sandbox/run-helm.ts'
import { kubeScoreProgram } from '../../sandbox/kube-score/build.ts'

/** The answer of kube-score about the objects of the chart, without what it finds good. */
const exceptions: Record<string, string> = {
  'ImagePullPolicy is not set to Always': 'a tag is a version and never changes; a node must start without a registry',
  'CPU limit is not set': 'a limit slows down reviews just when many arrive',
  'Ephemeral Storage limit is not set': 'the file system is read-only; the logs that count are those of the kubelet',
  'Ephemeral Storage request is not set': 'the same',
  'does not have a matching NetworkPolicy': 'no policy applies to the host network or to a Job that nobody calls',
  'does not have a matching egress NetworkPolicy':
    'the addresses of the provider and of the API server are unknown here',
  'does not have a host podAntiAffinity set': 'topologySpreadConstraints spread the pods, and block no rollout',
}

const values = ['settings.fip-tag=api', 'networkPolicy.enabled=true', 'certManager.enabled=true']

async function judgements(): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-score-'))
  try {
    const set = ['cloudProvider=cherryservers', ...values].flatMap((value) => ['--set', value])
    const file = join(dir, 'chart.yaml')
    writeFileSync(file, await runHelm(['template', 'eip-admission', chartFolder, '-n', 'eip-admission', ...set]))
    const { stdout } = spawnSync(await kubeScoreProgram(), ['score', '--output-format', 'ci', file], {
      encoding: 'utf8',
    })
    return stdout.split('\n').filter(Boolean)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const lines = await judgements()
const bad = lines.filter((line) => !/^\[(OK|SKIPPED)\]/.test(line))

test('kube-score finds nothing but the exceptions', () => {
  assert.ok(lines.length > 40, 'kube-score judged the objects')
  assert.equal(
    bad.filter((line) => !Object.keys(exceptions).some((text) => line.includes(text))),
    [],
  )
})

test('every exception is needed', () => {
  assert.equal(
    Object.keys(exceptions).filter((text) => !bad.some((line) => line.includes(text))),
    [],
  )
})

test.run()
