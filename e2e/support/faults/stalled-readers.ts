import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createParser } from 'eventsource-parser';
import { GATEWAY_EVENTS } from '../../../protocol/events/gateway.ts';
import type { Frame } from '../../../protocol/frames.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { TestClient } from '../../../src/gateway/testing/test-client.ts';
import { openSocket } from '../clients/open-socket.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';

/** A client that has subscribed to a workstream and reads no event until told to. */
export interface StalledReader {
  kind: 'SSE' | 'WebSocket';
  /** Starts reading, until an event of this kind or the end of the connection. */
  readUntil(type: StreamEvent['type']): Promise<ReadOut>;
  destroy(): void;
}

export interface ReadOut {
  events: { cursor: string; event: StreamEvent; atMs: number }[];
  /** Why it stopped early; undefined if the expected event came. */
  closed: string | undefined;
}

/** An event stream over a plain socket: once the kernel's buffers are full, the daemon's writes stall. */
export async function stallStream(daemon: DaemonUnderTest, wsId: string, after: string): Promise<StalledReader> {
  const socket = connect(daemon.port, '127.0.0.1');
  await once(socket, 'connect');
  const head = [
    `GET /v1/api/events?ws_id=${wsId}&resume=1 HTTP/1.1`,
    `Host: 127.0.0.1:${daemon.port}`,
    `Authorization: Bearer ${daemon.token}`,
    `Last-Event-ID: ${after}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await once(socket, 'readable');
  return { kind: 'SSE', readUntil: (type) => readStream(socket, type), destroy: () => socket.destroy() };
}

/** A subscription over a socket that is paused as soon as it is answered. */
export async function stallSocket(daemon: DaemonUnderTest, wsId: string, after: string): Promise<StalledReader> {
  const client = await openSocket(daemon);
  assert.deepEqual(await client.call('events.subscribe', { wsId, after }), { cursor: after, recovered: true });
  client.socket.pause();
  return { kind: 'WebSocket', readUntil: (type) => readSocket(client, type), destroy: () => client.socket.terminate() };
}

async function readStream(socket: Socket, type: StreamEvent['type']): Promise<ReadOut> {
  const events: ReadOut['events'] = [];
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const parser = createParser({
    onEvent({ id, data }) {
      const event = JSON.parse(data);
      if (id === undefined || event.type === 'history') return;
      events.push({ cursor: id, event, atMs: performance.now() });
      if (event.type === type) resolve(undefined);
    },
  });
  const decoder = new TextDecoder();
  const unchunk = createUnchunker((bytes) => parser.feed(decoder.decode(bytes, { stream: true })));
  socket.on('data', unchunk);
  socket.once('close', () => resolve('the connection was closed'));
  const closed = await promise;
  socket.off('data', unchunk);
  return { events, closed };
}

/** Removes the HTTP head and the chunked framing. */
function createUnchunker(onBytes: (bytes: Buffer) => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0);
  let hasHead = false;
  const cut = (separator: string): string | undefined => {
    const end = held.indexOf(separator);
    if (end < 0) return undefined;
    const text = held.toString('latin1', 0, end);
    held = held.subarray(end + separator.length);
    return text;
  };
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    if (!hasHead) hasHead = cut('\r\n\r\n') !== undefined;
    while (hasHead) {
      const line = held.indexOf('\r\n');
      const size = Number.parseInt(held.toString('latin1', 0, Math.max(0, line)), 16);
      if (line < 0 || held.length < line + size + 4) return;
      onBytes(held.subarray(line + 2, line + 2 + size));
      held = held.subarray(line + size + 4);
    }
  };
}

async function readSocket({ socket, frames, closed }: TestClient, type: StreamEvent['type']): Promise<ReadOut> {
  const events: ReadOut['events'] = [];
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const take = (frame: Frame | undefined) => {
    if (frame?.type !== 'event' || frame.event !== 'workstream') return;
    const { cursor, event } = GATEWAY_EVENTS.workstream.payload.parse(frame.payload);
    events.push({ cursor, event, atMs: performance.now() });
    if (event.type === type) resolve(undefined);
  };
  for (const frame of frames) take(frame);
  const onMessage = () => take(frames.at(-1));
  socket.on('message', onMessage);
  void closed.then(({ code, reason }) => resolve(`${code} ${reason}`));
  socket.resume();
  const reason = await promise;
  socket.off('message', onMessage);
  return { events, closed: reason };
}
