import { clearLine, cursorTo } from 'node:readline'

export type Progress = { update(detail: string): void; done(detail?: string): void }

/** Shows the progress of a long step on stderr: one line that is redrawn on a terminal, otherwise a line every 30 s. */
export function showProgress(step: string): Progress {
  const { stderr } = process
  const started = Date.now()
  let detail = ''
  let lastPlainMs = started
  const line = () => `${step}: ${Math.round((Date.now() - started) / 1000)} s${detail ? `, ${detail}` : ''}`
  const redraw = () => {
    clearLine(stderr, 0)
    cursorTo(stderr, 0)
    stderr.write(line().slice(0, stderr.columns - 1))
  }
  if (!stderr.isTTY) stderr.write(`${step}\n`)
  const timer = setInterval(() => {
    if (stderr.isTTY) return redraw()
    if (Date.now() - lastPlainMs < 30_000) return
    lastPlainMs = Date.now()
    stderr.write(`${line()}\n`)
  }, 500)
  return {
    update(text) {
      detail = text
    },
    done(text = detail) {
      clearInterval(timer)
      detail = text
      if (stderr.isTTY) redraw()
      stderr.write(stderr.isTTY ? '\n' : `${line()}\n`)
    },
  }
}
