/** Which references of an answer are shown in full; the others show only their `href`. */
export type View = {
  /** Whether a reference is shown in full; `byDefault` applies without `include` and `exclude`. */
  isFull(name: string, byDefault?: boolean): boolean
  /** Returns the view for the references inside a reference. */
  into(name: string): View
}

const maxDepth = 3

/** Reads `include` and `exclude`: comma-separated, dotted names, up to three levels deep. */
export function viewOf(query: Record<string, unknown>): View {
  return makeView(namesOf(query['include']), namesOf(query['exclude']))
}

/** The view without `include` and `exclude`. */
export const plain: View = makeView([], [])

function makeView(include: string[][], exclude: string[][]): View {
  return {
    isFull(name, byDefault = false) {
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
  return texts.flatMap((text) => text.split(',')).map((name) => name.trim().split('.').slice(0, maxDepth))
}
