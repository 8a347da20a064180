import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';

/** Where programs inside find the proxy. The network is their own, so the port is free. */
const PROXY_PORT = 39_128;
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;
const LOCAL = 'localhost,127.0.0.1,::1';

/**
 * Runs inside the sandbox before the command: opens listeners in the network of the sandbox and sends them to the daemon.
 * A socket belongs to the network in which it was made, so the daemon accepts connections from inside, and nothing of
 * ours remains there that a command could attack. A port that cannot be opened is left out.
 */
const OPENER_CODE = `let left = process.argv.length - 1;
const done = () => --left || process.exit();
for (const port of process.argv.slice(1)) {
  const server = require('node:net').createServer().on('error', done);
  server.listen(Number(port), '127.0.0.1', () => process.send(port, server, done));
}`;

/** The arguments of Node that open the way to the proxy, and to these ports of this machine. */
export const toOpenerArguments = (localPorts: readonly number[]): string[] => [
  ...['-e', OPENER_CODE],
  ...[PROXY_PORT, ...localPorts].map(String),
];

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

/**
 * Calls `onOpen` with each listener that the opener sends, and its port; undefined: that of the proxy. Everything else on
 * that channel is ignored.
 */
export function receiveListeners(child: ChildProcess, onOpen: (listener: Server, localPort?: number) => void): void {
  child.on('message', (port, handle) => {
    if (!(handle instanceof Server)) return;
    if (Number(port) === PROXY_PORT) onOpen(handle);
    else onOpen(handle, Number(port));
  });
}
