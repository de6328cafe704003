/** An answer of the cloud that is asked for once for everybody who needs it. */
export type SharedAnswer<T> = {
  /** As it was this long ago at most. Whoever asks while it is asked for gets the same answer, or the same error. */
  within(ms: number, signal: AbortSignal): Promise<T>
}

export type SharedAnswerOptions<T> = { ask: (signal: AbortSignal) => Promise<T>; now: () => number }

type Question<T> = { atMs: number; state: 'asked' | 'answered' | 'failed'; answer: Promise<T> }

/** A question that failed is not asked again at once by all the others who need its answer too. */
const failureMs = 2_000

/** A question that nobody has asked yet. */
export function sharedAnswer<T>({ ask, now }: SharedAnswerOptions<T>): SharedAnswer<T> {
  let last: Question<T> | undefined

  const askNow = async (signal: AbortSignal) => {
    const question: Question<T> = { atMs: now(), state: 'asked', answer: ask(signal) }
    last = question
    try {
      const answer = await question.answer
      question.state = 'answered'
      return answer
    } catch (error) {
      question.state = 'failed'
      throw error
    }
  }

  return {
    async within(ms, signal) {
      if (last?.state === 'asked') return last.answer
      const freshMs = last?.state === 'failed' ? Math.min(ms, failureMs) : ms
      return last && now() - last.atMs <= freshMs ? last.answer : askNow(signal)
    },
  }
}
