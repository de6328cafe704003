import { command, count, text } from './command.ts'

export type Quota = ReturnType<typeof makeQuota>

/** Makes the limits of how many addresses each project may have. */
export function makeQuota(addresses: number) {
  let forAll = addresses
  const own = new Map<string, number>()
  return {
    set: command(
      {
        route: 'PUT /quota',
        help: 'Sets how many addresses every project, or the one in "project", may have.',
        example: '{"addresses":10}',
        fields: { addresses: count },
        optional: { project: text },
        spreads: true,
      },
      (wanted: number, project?: string) => {
        if (project !== undefined) return void own.set(project, wanted)
        own.clear()
        forAll = wanted
      },
    ),
    of: (project: string): number => own.get(project) ?? forAll,
  }
}
