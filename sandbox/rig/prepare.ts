// Gets what the rig is made of, while there is a network: MetalLB in every version, and BIRD.
import { controlPlanePrograms } from '../control-plane/build.ts'
import { type MetallbVersion, metallbPrograms, metallbVersions } from '../metallb/build.ts'
import { findBird } from './bird.ts'
import { findNamespaceProblem } from './namespace.ts'

/** Makes everything ready for rigs with these versions of MetalLB; answers why this machine can have none, if so. */
export async function prepareRig(versions: readonly MetallbVersion[] = metallbVersions): Promise<string | undefined> {
  const why = findNamespaceProblem()
  if (why !== undefined) return why
  await controlPlanePrograms()
  for (const version of versions) await metallbPrograms(version)
  return findBird().then(
    () => undefined,
    (error: Error) => error.message,
  )
}

if (import.meta.main) {
  const why = await prepareRig()
  console.log(why === undefined ? 'the rig is ready' : `NO RIG ON THIS MACHINE: ${why}`)
  if (why !== undefined && process.env.CI !== undefined) process.exitCode = 1
}
