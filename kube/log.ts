type Line = (fields: object, message: string) => void

/** A logger as the rooms use it; pino's matches. A line is a constant message, with its facts as fields. */
export type Log = { debug: Line; info: Line; warn: Line; error: Line }
