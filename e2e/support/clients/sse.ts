import { createParser } from 'eventsource-parser';
import { within } from '../deadline.ts';

export interface SseFrame {
  id: string | undefined;
  /** The parsed `data:` line. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the wire carries; tests compare it.
  data: any;
}

export interface SseReader extends AsyncDisposable {
  response: Response;
  /** All frames so far. */
  frames: readonly SseFrame[];
  /** Comments so far, such as keepalives. */
  comments: readonly string[];
  /** The raw text. */
  text(): string;
  /** The first matching frame, past or future, by a predicate or its `type`. Frames before `after` are skipped. */
  until(wanted: string | ((frame: SseFrame) => boolean), options?: UntilOptions): Promise<SseFrame>;
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  close(): Promise<void>;
}

export interface UntilOptions {
  timeoutMs?: number;
  /** Consider only frames after this one. */
  after?: SseFrame;
}

export interface SseOptions {
  token?: string | undefined;
  /** Sent as Last-Event-ID. */
  lastEventId?: string | undefined;
  headers?: Record<string, string>;
}

/** Opens an event stream and reads it continuously. Rejects unless the answer is 200. */
export async function openSse(url: string | URL, { token, lastEventId, headers }: SseOptions = {}): Promise<SseReader> {
  const stop = new AbortController();
  const response = await fetch(url, {
    signal: stop.signal,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      ...headers,
    },
  });
  if (response.status !== 200 || !response.body) throw new Error(`status ${response.status}: ${await response.text()}`);
  const frames: SseFrame[] = [];
  const comments: string[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  const parser = createParser({
    onEvent: ({ id, data }) => frames.push({ id, data: JSON.parse(data) }),
    onComment: (comment) => comments.push(comment),
  });
  const ended = readAll(response.body, (chunk) => {
    text += chunk;
    parser.feed(chunk);
    for (const look of [...waiting]) look();
  });
  return {
    response,
    frames,
    comments,
    text: () => text,
    until: (wanted, options) => findFrame({ frames, waiting, ended }, wanted, options),
    ended,
    async close() {
      stop.abort();
      await ended;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** Resolves at the end of the stream, including a broken connection. */
async function readAll(body: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) onText(decoder.decode(chunk, { stream: true }));
  } catch {
    // aborted: the received frames are kept
  }
}

interface Source {
  frames: readonly SseFrame[];
  waiting: Set<() => void>;
  ended: Promise<void>;
}

async function findFrame(
  { frames, waiting, ended }: Source,
  wanted: string | ((frame: SseFrame) => boolean),
  { timeoutMs = 60_000, after }: UntilOptions = {},
): Promise<SseFrame> {
  const fits = typeof wanted === 'string' ? ({ data }: SseFrame) => data.type === wanted : wanted;
  const { promise, resolve, reject } = Promise.withResolvers<SseFrame>();
  let next = after === undefined ? 0 : frames.indexOf(after) + 1;
  const look = () => {
    for (; next < frames.length; next += 1) {
      const frame = frames[next];
      if (frame && fits(frame)) return resolve(frame);
    }
  };
  waiting.add(look);
  look();
  const seen = () => `${wanted} among ${frames.map(({ data }) => data.type).join(', ')}`;
  void ended.then(() => reject(new Error(`the stream ended without ${seen()}`)));
  try {
    return await within(promise, timeoutMs, seen);
  } finally {
    waiting.delete(look);
  }
}
