/** Which references of an answer are shown in full; of all others only the `href` is. */
export type View = {
  /** Whether a reference is in full, given what it is without `include` and `exclude`. */
  full(name: string, byDefault?: boolean): boolean
  /** The view of what lies inside a reference. */
  into(name: string): View
}

const deepest = 3

/** Reads `include` and `exclude`: comma-separated, dotted names, up to three levels deep. */
export function viewOf(query: Record<string, unknown>): View {
  return makeView(namesOf(query['include']), namesOf(query['exclude']))
}

/** Nothing but what is always in full. */
export const plain: View = makeView([], [])

function makeView(include: string[][], exclude: string[][]): View {
  return {
    full(name, byDefault = false) {
      if (exclude.some((path) => path.length === 1 && path[0] === name)) return false
      return byDefault || include.some(([first]) => first === name)
    },
    into: (name) => makeView(below(include, name), below(exclude, name)),
  }
}

function below(paths: string[][], name: string): string[][] {
  return paths.filter(([first, ...rest]) => first === name && rest.length > 0).map(([, ...rest]) => rest)
}

function namesOf(value: unknown): string[][] {
  const texts = [value].flat().filter((text) => typeof text === 'string')
  return texts.flatMap((text) => text.split(',')).map((name) => name.trim().split('.').slice(0, deepest))
}
