import { mostCommon } from './order.ts'
import { type Sessions, sessionProblem } from './sessions.ts'

/** The sessions that can use one password, as one Secret holds one: the password of most sessions. */
export function sessionsWithOnePassword({ sessions, problems }: Sessions): Sessions & { password: string | undefined } {
  const password = mostCommon(sessions.flatMap((session) => session.password ?? []))
  const isAlike = (own: string | undefined) => own === undefined || own === password
  const others = sessions.filter((session) => !isAlike(session.password))
  const reason = 'its password differs from that of most nodes, and only one can be configured'
  return {
    password,
    sessions: sessions.filter((session) => isAlike(session.password)),
    problems: [...problems, ...others.map(({ node }) => sessionProblem(node, reason))],
  }
}
