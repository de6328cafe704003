import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../child.ts'

/**
 * Sends a command to BIRD's control socket, and returns the lines of the answer without their codes. A line is
 * `1007-text`, or ` text` when it has the code of the line before. A blank after the code marks the last line, and a
 * code of 8000 or more an error.
 */
export async function queryBird(socketFile: string, command: string): Promise<string[]> {
  const socket = connect(socketFile)
  let text = ''
  socket.setEncoding('utf8').on('data', (makePart: string) => {
    text += makePart
    const [greeting, answer] = parseAnswers(text)
    if (greeting && answer) socket.end()
  })
  await once(socket, 'connect')
  socket.write(`${command}\n`)
  await once(socket, 'close')
  const [, answer = []] = parseAnswers(text)
  const last = answer.at(-1) ?? 'no answer'
  if (!/^\d{4} /.test(last) || Number(last.slice(0, 4)) >= 8000) throw new Error(`BIRD: ${command}: ${last}`)
  return answer.map((line) => line.replace(/^(\d{4}[- ]| )/, ''))
}

/** Waits until a newly started BIRD answers: its socket exists for a moment before it accepts connections. */
export async function untilBirdAnswers(child: Pick<Child, 'isRunning'>, socketFile: string): Promise<void> {
  const deadlineMs = Date.now() + 90_000
  for (;;) {
    const answer = await queryBird(socketFile, 'show status').catch((error: Error) => error)
    if (!(answer instanceof Error)) return
    if (!child.isRunning() || Date.now() > deadlineMs) throw new Error('BIRD does not answer', { cause: answer })
    await sleep(25)
  }
}

/** Returns the complete answers in the text received so far. */
function parseAnswers(text: string): string[][] {
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
