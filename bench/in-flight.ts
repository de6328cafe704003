/** Runs `count` calls, with a maximum of calls in flight. */
export async function inFlight(most: number, count: number, work: (place: number) => Promise<unknown>): Promise<void> {
  const places = Array.from({ length: count }, (_, place) => place).values()
  const worker = async () => {
    for (const place of places) await work(place)
  }
  await Promise.all(Array.from({ length: most }, worker))
}
