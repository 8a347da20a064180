import { WebSocket } from 'ws';
import type { EventFrame, Frame, ResponseFrame } from '../../../protocol/frames.ts';

/** The first frame of a client, without its token. */
export const CONNECT = {
  minProtocol: 1,
  maxProtocol: 2,
  client: { name: 'test', version: '1', platform: 'node', mode: 'ui' },
};

export type TestClient = Awaited<ReturnType<typeof openClient>>;

/** Where a client connects from, and what it believes of the other side. */
interface Place {
  localAddress?: string;
  ca?: string;
  servername?: string;
}

/** A ws client that records every frame. It never times out; the test runner ends a test that waits in vain. */
export async function openClient(url: string, headers: Record<string, string>, from: Place = {}) {
  const socket = new WebSocket(url, { headers, perMessageDeflate: true, ...from });
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  let lastId = 0;
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      wake();
    });
  });
  socket.on('message', (data) => {
    frames.push(JSON.parse(data.toString()));
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);

  /** The first matching frame, received or still to come; undefined when the socket closes without one. */
  const until = <F extends Frame>(fits: (frame: Frame) => frame is F) =>
    new Promise<F>((resolve, reject) => {
      const look = () => {
        const found = frames.find(fits);
        if (!found && socket.readyState !== socket.CLOSED) return;
        waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error('the socket was closed'));
      };
      waiting.add(look);
      look();
    });

  const answerTo = (id: string) =>
    until((frame): frame is ResponseFrame => {
      if (frame.type !== 'res' || frame.id !== id) return false;
      return (frame.payload as { status?: string } | undefined)?.status !== 'accepted';
    });

  const request = (method: string, params?: unknown) => {
    const id = `r${++lastId}`;
    socket.send(JSON.stringify({ type: 'req', id, method, params }));
    return answerTo(id);
  };

  return {
    socket,
    frames,
    closed,
    answerTo,
    request,
    /** The first such event, received or still to come. */
    event: (name: string, fits: (payload: unknown) => boolean = () => true) =>
      until((frame): frame is EventFrame => frame.type === 'event' && frame.event === name && fits(frame.payload)),
    events: () => frames.filter((frame) => frame.type === 'event'),
    async call(method: string, params?: unknown) {
      const { ok, payload, error } = await request(method, params);
      if (!ok) throw new Error(`${error?.code}: ${error?.message}`);
      return payload;
    },
  };
}
