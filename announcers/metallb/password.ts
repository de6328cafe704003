import { mostCommon } from './order.ts'
import { type Sessions, noSession } from './sessions.ts'

/** The sessions that get along with one password, for one Secret: that of most of them. */
export function withOnePassword({ sessions, problems }: Sessions): Sessions & { password: string | undefined } {
  const password = mostCommon(sessions.flatMap((session) => session.password ?? []))
  const isAlike = (own: string | undefined) => own === undefined || own === password
  const others = sessions.filter((session) => !isAlike(session.password))
  const why = 'its password is not that of most nodes'
  return {
    password,
    sessions: sessions.filter((session) => isAlike(session.password)),
    problems: [...problems, ...others.map(({ node }) => noSession(node, why))],
  }
}
