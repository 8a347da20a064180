import { get } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { StreamHistory } from '../evidence.ts';
import { connectCut } from './cut-socket.ts';
import type { Address } from './record-socket.ts';

export interface StreamWish extends Address {
  reader: string;
  wsId: string;
  /** The cursor to resume after. Default: the beginning. */
  lastEventId?: string | undefined;
  cutAfterBytes?: number | undefined;
  /** Called for each complete frame after it was recorded. */
  onFrame?(frame: StreamHistory['frames'][number]): void;
}

export interface RecordedStream {
  history: StreamHistory;
  /** The cursor to resume from. */
  readonly lastId: string | undefined;
  /** Resolves when the stream has ended, for any reason. */
  ended: Promise<void>;
  close(): void;
}

/** Reads an event stream and records every complete frame, even if the connection breaks within the next one. */
export function recordStream({ url, token, signal, reader, wsId, ...wish }: StreamWish): RecordedStream {
  const { lastEventId, cutAfterBytes, onFrame } = wish;
  const history: StreamHistory = {
    reader,
    wsId,
    frames: [],
    isOpen: true,
    ...(lastEventId !== undefined && { lastEventId }),
    ...(cutAfterBytes !== undefined && { cutAfterBytes }),
  };
  const parser = createParser({
    onEvent({ id, data }) {
      const frame = { ...(id !== undefined && { id }), data: JSON.parse(data) };
      history.frames.push(frame);
      onFrame?.(frame);
    },
  });
  const { hostname: host, port } = new URL(url);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const request = get(`${url}/v1/api/events?ws_id=${wsId}${lastEventId === undefined ? '' : '&resume=1'}`, {
    headers: {
      Authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    },
    ...(cutAfterBytes === undefined
      ? { agent: false as const }
      : { createConnection: () => connectCut({ host, port: Number(port) }, cutAfterBytes) }),
  });
  request.on('response', (response) => {
    response.setEncoding('utf8').on('data', (text: string) => {
      if (response.statusCode === 200) parser.feed(text);
    });
    response.on('error', () => undefined); // aborted: `close` follows
  });
  request.on('error', () => undefined); // aborted or refused: `close` follows
  const giveUp = () => void request.destroy();
  signal?.addEventListener('abort', giveUp);
  request.on('close', () => {
    signal?.removeEventListener('abort', giveUp);
    history.isOpen = false;
    resolve();
  });
  return {
    history,
    get lastId() {
      return history.frames.findLast(({ id }) => id !== undefined)?.id;
    },
    ended,
    close: () => void request.destroy(),
  };
}
