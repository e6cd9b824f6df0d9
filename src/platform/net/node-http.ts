// Node's HTTP, without what its import statement brings: that reads everything the module exports, WebSocket among it, and with that
// loads all of undici, 10 MiB and 30 ms of the processor at each start for what nobody here uses.
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');
