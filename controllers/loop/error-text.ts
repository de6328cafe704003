/** The message of an error; of an AggregateError every reason, so that none is lost. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof AggregateError)) return error.message
  const reasons = [...new Set(error.errors.map(errorText))].join('; ')
  return error.message === '' ? reasons : `${error.message}: ${reasons}`
}
