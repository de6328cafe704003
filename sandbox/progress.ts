import { clearLine, cursorTo } from 'node:readline'

export type Progress = {
  /** `share` is the part that is done, from 0 to 1. */
  update(detail: string, share?: number): void
  done(detail?: string): void
  /** Shows a step that began hidden, because a caller waits for it now. */
  show(): void
}

const plainEveryMs = 30_000
const barLength = 24

/** Shows the progress of a long step on stderr: one line that is redrawn on a terminal, otherwise a line every 30 s. */
export function showProgress(step: string, { isHidden = false } = {}): Progress {
  const startedMs = Date.now()
  let state: 'hidden' | 'shown' | 'done' = 'hidden'
  let detail = ''
  let bar = ''
  const line = () =>
    `${step}: ${bar}${Math.round((Date.now() - startedMs) / 1000)} s${detail === '' ? '' : `, ${detail}`}`
  const draw = drawer(line)
  const timer = setInterval(() => {
    if (state === 'shown') draw('now and then')
  }, 500)
  const show = () => {
    if (state !== 'hidden') return
    state = 'shown'
    if (!process.stderr.isTTY) process.stderr.write(`${step}\n`)
  }
  if (!isHidden) show()
  return {
    update(text, share) {
      detail = text
      bar = share === undefined ? '' : `${barOf(share)} `
    },
    done(text = detail) {
      clearInterval(timer)
      detail = text
      bar = ''
      if (state === 'shown') draw('last')
      state = 'done'
    },
    show,
  }
}

/** Draws a line: over itself on a terminal, otherwise below the others and not too often. */
function drawer(line: () => string): (when: 'now and then' | 'last') => void {
  const { stderr } = process
  let plainAtMs = Date.now()
  return (when) => {
    if (stderr.isTTY) {
      clearLine(stderr, 0)
      cursorTo(stderr, 0)
      // A line that is redrawn must fit into one row. The last line is complete: it may say why something was not done.
      stderr.write(when === 'last' ? `${line()}\n` : line().slice(0, stderr.columns - 1))
    } else if (when === 'last' || Date.now() - plainAtMs >= plainEveryMs) {
      plainAtMs = Date.now()
      stderr.write(`${line()}\n`)
    }
  }
}

function barOf(share: number): string {
  const part = Math.min(1, Math.max(0, share))
  const full = Math.round(part * barLength)
  return `[${'#'.repeat(full)}${'.'.repeat(barLength - full)}] ${Math.round(part * 100)} %,`
}
