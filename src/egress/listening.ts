import { connect } from 'node:net';

/** Whether something accepts connections at an address. */
export type IsListening = (address: URL, signal: AbortSignal) => Promise<boolean>;

/**
 * Opens a connection and closes it at once. Much cheaper than a request if nothing listens, because the HTTP client
 * does not have to be loaded. Only for the machine's own addresses: nothing is checked here. Never rejects.
 */
export const isListening: IsListening = ({ hostname, port, protocol }, signal) =>
  new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) || DEFAULT_PORTS[protocol] || 0, signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
