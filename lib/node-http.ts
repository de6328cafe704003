/** Not by `import`, which reads every export of a module: WebSocket, an export of this one, loads a library of 7 MiB. */
export const nodeHttp = process.getBuiltinModule('node:http')
