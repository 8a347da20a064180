import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';

/** Where programs inside find the proxy. The network is their own, so the port is free. */
const PROXY_PORT = 39_128;
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;
const LOCAL = 'localhost,127.0.0.1,::1';

/**
 * Runs inside the sandbox before the command: opens a listener in the network of the sandbox and sends it to the daemon.
 * A socket belongs to the network in which it was made, so the daemon accepts connections from inside, and nothing of
 * ours remains there that a command could attack.
 */
export const OPENER_CODE = `const server = require('node:net').createServer(); server.listen(${PROXY_PORT}, '127.0.0.1', () => process.send('open', server, () => process.exit()))`;

const JVM = `-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=${PROXY_PORT} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=${PROXY_PORT}`;

/** Tells programs to use the proxy. Without NODE_USE_ENV_PROXY, which would double the time of each start of Node. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => bothCases(name, PROXY_URL))),
  ...Object.fromEntries(bothCases('no_proxy', LOCAL)),
  MAVEN_OPTS: JVM,
  GRADLE_OPTS: JVM,
};

function bothCases(name: string, value: string): [string, string][] {
  return [
    [name, value],
    [name.toUpperCase(), value],
  ];
}

/** Calls `onOpen` with the listener that the opener sends. Everything else on that channel is ignored. */
export function receiveListener(child: ChildProcess, onOpen: (listener: Server) => void): void {
  child.once('message', (_, handle) => {
    child.disconnect();
    if (handle instanceof Server) onOpen(handle);
  });
}
