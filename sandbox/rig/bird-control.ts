import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Asks BIRD by its control socket; the lines of its answer, without their codes. A line is `1007-text`, and ` text` when
 * its code is that of the line before; one with a blank after the code is the last, and an error from 8000 on.
 */
export async function askBird(socketFile: string, command: string): Promise<string[]> {
  const socket = connect(socketFile)
  let text = ''
  socket.setEncoding('utf8').on('data', (makePart: string) => {
    text += makePart
    const [greeting, answer] = answersIn(text)
    if (greeting && answer) socket.end()
  })
  await once(socket, 'connect')
  socket.write(`${command}\n`)
  await once(socket, 'close')
  const [, answer = []] = answersIn(text)
  const last = answer.at(-1) ?? 'no answer'
  if (!/^\d{4} /.test(last) || Number(last.slice(0, 4)) >= 8000) throw new Error(`BIRD: ${command}: ${last}`)
  return answer.map((line) => line.replace(/^(\d{4}[- ]| )/, ''))
}

/** The complete answers in what has come so far. */
function answersIn(text: string): string[][] {
  const answers: string[][] = []
  let lines: string[] = []
  for (const line of text.split('\n').slice(0, -1)) {
    lines.push(line)
    if (!/^\d{4} /.test(line)) continue
    answers.push(lines)
    lines = []
  }
  return answers
}
