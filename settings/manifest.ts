import { readManifest } from '../kube/manifest-file.ts'
import { common } from './common.ts'
import type { Problem } from './problems.ts'
import { readSettings } from './resolve.ts'
import type { Sources } from './resolve.ts'

/** Problems of the manifest that we are to apply, found before anything is applied. */
export function manifestProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { loadBalancerManifest: setting } = common
  const path = readSettings({ setting }, sources).values?.setting
  const file = path === undefined ? undefined : readManifest(path)
  if (path === undefined || file?.wrong === undefined) return []
  return [manifestProblem(path, file.wrong)]
}

/** The problem of a manifest that cannot be used. */
export function manifestProblem(path: string, wrong: string): Problem {
  const right = 'it must be a readable YAML file with Kubernetes objects, as for kubectl apply -f'
  return { setting: common.loadBalancerManifest.title, source: path, wrong, right }
}
