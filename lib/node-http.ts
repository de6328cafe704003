/** An `import` would read every export of the module. WebSocket, one of them, loads a library of 7 MiB. */
export const nodeHttp = process.getBuiltinModule('node:http')
