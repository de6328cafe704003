type Line = (fields: object, message: string) => void

/** What the rooms ask of a logger; pino's fits. A line is a constant message with its facts as fields. */
export type Log = { debug: Line; info: Line; warn: Line; error: Line }
