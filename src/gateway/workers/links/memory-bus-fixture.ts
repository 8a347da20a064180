import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transport, TransportDeps } from '../../../bus/transport.ts';
import { readEnvelope } from './envelope.ts';

interface Port {
  onMessage(message: Uint8Array): void;
  isConnected: boolean;
  listeners: ((isConnected: boolean) => void)[];
}

/** A bus in memory. Each message arrives in the next turn of the event loop. */
export function memoryBus() {
  const ports = new Map<string, Port>();
  /** The kinds of all messages, with their receivers. */
  const sent: string[] = [];
  const deliver = async (to: string, message: Uint8Array): Promise<void> => {
    await nextTurn();
    const port = ports.get(to);
    if (port?.isConnected) port.onMessage(message);
  };
  const become = (process: string, isConnected: boolean): void => {
    const port = ports.get(process);
    if (port === undefined) return;
    port.isConnected = isConnected;
    for (const listener of port.listeners) listener(isConnected);
  };
  return {
    sent,
    /** Brings a message that no daemon has sent now. */
    deliver,
    disconnect: (process: string): void => become(process, false),
    reconnect: (process: string): void => become(process, true),
    async connect({ own, onMessage }: TransportDeps): Promise<Transport> {
      const port: Port = { onMessage, isConnected: true, listeners: [] };
      ports.set(own, port);
      return {
        send(to, message) {
          if (!port.isConnected) throw new Error('the bus is not connected');
          sent.push(`${readEnvelope(message)?.kind} to ${to}`);
          void deliver(to, message);
        },
        get isConnected() {
          return port.isConnected;
        },
        onState: (listener) => void port.listeners.push(listener),
        async close() {
          ports.delete(own);
        },
      };
    },
  };
}
