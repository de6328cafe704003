/** Not by `import`, which reads every export of a module: one of this one's, WebSocket, loads a library of 7 MiB. */
export const nodeHttp = process.getBuiltinModule('node:http')
