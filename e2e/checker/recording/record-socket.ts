import { WebSocket } from 'ws';
import type { EventFrame, Frame, ResponseFrame } from '../../../protocol/frames.ts';
import type { SocketHistory } from '../evidence.ts';
import { connectCut } from './cut-socket.ts';

/** A server, and when a client gives it up. */
export interface Address {
  url: string;
  token: string;
  /** Connections end and answers are lost, as when a client no longer waits. */
  signal?: AbortSignal;
}

export interface SocketWish extends Address {
  reader: string;
  cutAfterBytes?: number | undefined;
  /** Called for each event after it was recorded. */
  onEvent?(frame: EventFrame): void;
}

export interface RecordedSocket {
  history: SocketHistory;
  /** Sends a request. `onAnswer` is called for every answer that arrives; `agent` has two. */
  request(method: string, params: object, onAnswer?: (frame: ResponseFrame) => void): void;
  /** Resolves when hello-ok arrives, or with false if the connection was lost before. */
  connected: Promise<boolean>;
  ended: Promise<void>;
  close(): void;
}

/** Opens a WebSocket, connects, and records every complete frame in both directions. */
export function recordSocket({ url, token, signal, reader, cutAfterBytes, onEvent }: SocketWish): RecordedSocket {
  const history: SocketHistory = {
    reader,
    frames: [],
    isOpen: true,
    ...(cutAfterBytes !== undefined && { cutAfterBytes }),
  };
  const { hostname: host, port } = new URL(url);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, {
    ...(cutAfterBytes !== undefined && {
      createConnection: () => connectCut({ host, port: Number(port) }, cutAfterBytes),
    }),
  });
  const waiting = new Map<string, (frame: ResponseFrame) => void>();
  const { promise: connected, resolve: tellConnected } = Promise.withResolvers<boolean>();
  const { promise: ended, resolve: tellEnded } = Promise.withResolvers<void>();
  let lastId = 0;

  const request: RecordedSocket['request'] = (method, params, onAnswer = () => undefined) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const frame = { type: 'req' as const, id: `r${++lastId}`, method, params };
    waiting.set(frame.id, onAnswer);
    history.frames.push({ way: 'out', frame });
    socket.send(JSON.stringify(frame));
  };
  socket.on('open', () => request('connect', { ...CONNECT, auth: { token } }, ({ ok }) => tellConnected(ok)));
  socket.on('message', (data) => {
    const frame: Frame = JSON.parse(String(data));
    history.frames.push({ way: 'in', frame });
    if (frame.type === 'res') waiting.get(frame.id)?.(frame);
    if (frame.type === 'event') onEvent?.(frame);
  });
  socket.on('error', () => undefined); // aborted or refused: `close` follows
  const giveUp = () => socket.terminate();
  signal?.addEventListener('abort', giveUp);
  socket.on('close', () => {
    signal?.removeEventListener('abort', giveUp);
    history.isOpen = false;
    tellConnected(false);
    tellEnded();
  });
  return { history, request, connected, ended, close: () => socket.terminate() };
}

const CONNECT = {
  minProtocol: 2,
  maxProtocol: 2,
  client: { name: 'recorder', version: '1', platform: 'node', mode: 'test' },
};
