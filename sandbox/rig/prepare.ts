// Builds MetalLB in every version and kube-proxy, and downloads BIRD and what kube-proxy runs, for the tests with real
// routers and packets. Call it as `make rig`, before those tests: they run without a network.
import { controlPlanePrograms } from '../control-plane/build.ts'
import type { BuildOptions } from '../go-programs.ts'
import { type MetallbVersion, metallbPrograms, metallbVersions } from '../metallb/build.ts'
import { findBird } from './bird.ts'
import { proxyPrograms } from './kube-proxy.ts'
import { findNamespaceProblem } from './namespace.ts'

/** Prepares rigs with these versions of MetalLB; returns the reason where this machine cannot run them. */
export async function prepareRig(
  versions: readonly MetallbVersion[] = metallbVersions,
  options?: BuildOptions,
): Promise<string | undefined> {
  const reason = findNamespaceProblem()
  if (reason !== undefined) return reason
  await controlPlanePrograms(options)
  for (const version of versions) await metallbPrograms(version, options)
  return findBird().then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** Prepares all that the tests of the rig use, with these versions of MetalLB. */
export async function prepareWholeRig(versions?: readonly MetallbVersion[]): Promise<string | undefined> {
  const reason = await prepareRig(versions)
  if (reason === undefined) await proxyPrograms()
  return reason
}

if (import.meta.main) {
  const reason = await prepareWholeRig()
  console.log(reason === undefined ? 'The rig is ready.' : `This machine cannot run the rig: ${reason}`)
  if (reason !== undefined && process.env.CI !== undefined) process.exitCode = 1
}
