/** Does `count` things with so many of them under way at most. */
export async function inFlight(most: number, count: number, work: (place: number) => Promise<void>): Promise<void> {
  const places = Array.from({ length: count }, (_, place) => place).values()
  const worker = async () => {
    for (const place of places) await work(place)
  }
  await Promise.all(Array.from({ length: most }, worker))
}
