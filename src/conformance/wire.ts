import { systemTimers } from '../../protocol/client/timers.ts';
import { CLOSINGS, type ClosingName } from '../../protocol/closings.ts';
import { type EventFrame, Frame, type ResponseFrame } from '../../protocol/frames.ts';
import { Interrupted, Violation } from './verdict.ts';

export interface Closed {
  code: number;
  reason: string;
}

/** The close code and reason that the gateway uses in this case. */
export function closedAs(name: ClosingName): Closed {
  const { code, reason } = CLOSINGS[name];
  return { code, reason };
}

/** A plain socket that records every frame, so that cases see what the typed clients hide. */
export interface Wire {
  readonly frames: readonly Frame[];
  /** Resolves when the socket is closed; a Violation if it stays open. */
  closed(): Promise<Closed>;
  send(text: string): void;
  /** The first result of `pick` for a past or future frame. A Violation after ten seconds or if the socket closes. */
  until<T>(what: string, pick: (frame: Frame) => T | undefined): Promise<T>;
  request(method: string, params?: unknown): Promise<ResponseFrame>;
  /** The payload of the answer; a Violation if it is an error. */
  call(method: string, params?: unknown): Promise<unknown>;
  events(name: string): EventFrame[];
  close(): void;
}

const PATIENCE_MS = 10_000;
/** After an interruption, how long to wait for pending answers, which name what the server has created. */
const HURRY_MS = 1_000;

/** After `hurry` aborts, nothing more is sent, and pending waits end soon. */
export async function openWire(url: string, hurry?: AbortSignal): Promise<Wire> {
  const socket = new WebSocket(url);
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  let end: Closed | undefined;
  const closed = new Promise<Closed>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => {
      end = { code, reason };
      resolve(end);
      wake();
    });
  });
  socket.addEventListener('message', ({ data }) => {
    frames.push(toFrame(data));
    wake();
  });
  socket.addEventListener('error', () => undefined); // a close follows
  const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
  await Promise.race([opened, closed]);
  if (end !== undefined) throw new Violation(`${url} does not accept a WebSocket`);

  const until: Wire['until'] = (what, pick) =>
    new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        waiting.delete(look);
        cancel();
        hurry?.removeEventListener('abort', onHurry);
        settle();
      };
      const onHurry = () => {
        cancel();
        cancel = systemTimers.after(HURRY_MS, () => finish(() => reject(new Interrupted())));
      };
      const look = () => {
        const found = firstOf(frames, pick);
        if (found !== undefined) return finish(() => resolve(found));
        if (end) finish(() => reject(new Violation(`closed (${end?.code} ${end?.reason}) before ${what}`)));
      };
      let cancel = systemTimers.after(PATIENCE_MS, () => finish(() => reject(new Violation(`no ${what} in 10 s`))));
      hurry?.addEventListener('abort', onHurry, { once: true });
      waiting.add(look);
      look();
    });

  let lastId = 0;
  const request: Wire['request'] = async (method, params) => {
    if (hurry?.aborted) throw new Interrupted();
    const id = `c${++lastId}`;
    socket.send(JSON.stringify({ type: 'req', id, method, params }));
    return until(`answer to ${method}`, (frame) => (frame.type === 'res' && frame.id === id ? frame : undefined));
  };
  return {
    frames,
    closed: () => patiently(closed, hurry),
    send: (text) => socket.send(text),
    until,
    request,
    async call(method, params) {
      const { ok, payload, error } = await request(method, params);
      if (!ok) throw new Violation(`${method} was answered ${error?.code}: ${error?.message}`);
      return payload;
    },
    events: (name) => frames.filter((frame) => frame.type === 'event').filter(({ event }) => event === name),
    close: () => socket.close(),
  };
}

function firstOf<T>(frames: readonly Frame[], pick: (frame: Frame) => T | undefined): T | undefined {
  for (const frame of frames) {
    const found = pick(frame);
    if (found !== undefined) return found;
  }
  return undefined;
}

function toFrame(data: unknown): Frame {
  const { data: frame, error } = Frame.safeParse(typeof data === 'string' ? parseJson(data) : data);
  // Recorded as an event with an unused name, which makes the case fail at its end.
  return frame ?? { type: 'event', event: INVALID, payload: `${error?.issues[0]?.message}: ${String(data)}` };
}

/** The event name under which an invalid frame is recorded. */
export const INVALID = '(no frame)';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // not a frame either
  }
}

/** Waits for the close. A Violation if it does not come in time, counted from this call. */
async function patiently(closed: Promise<Closed>, hurry: AbortSignal | undefined): Promise<Closed> {
  const late = Promise.withResolvers<never>();
  const cancel = systemTimers.after(1.5 * PATIENCE_MS, () => late.reject(new Violation('the socket was not closed')));
  const onHurry = () => late.reject(new Interrupted());
  hurry?.addEventListener('abort', onHurry, { once: true });
  try {
    return await Promise.race([closed, late.promise]);
  } finally {
    cancel();
    hurry?.removeEventListener('abort', onHurry);
  }
}
