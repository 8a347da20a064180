import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Between two requests, the asking process may be busy for longer than Node keeps idle connections. */
const CODE = `const server = require('node:http').createServer((_, response) => response.end());
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** A process that only answers: its response time shows how busy the machine is. */
export async function startBareServer() {
  const child = spawn(process.execPath, ['-e', CODE], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(port).trim()}/`;
  return {
    ask: async () => (await fetch(url)).arrayBuffer(),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
