import { prettyFactory } from 'pino-pretty'

/** Formats a line of JSON as a line of text with the same facts. It has its own file because only this log needs it. */
export function textFormat(colorize: boolean): (line: string) => string {
  return prettyFactory({
    singleLine: true,
    colorize,
    errorLikeObjectKeys: [],
    translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'",
  })
}
