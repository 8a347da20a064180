import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A process's own debugger: the way to have garbage collected that needs nothing of the process. */
export interface Inspector {
  collectGarbage(): Promise<void>;
  close(): void;
}

/** Connects to the debugger that `--inspect` has announced in this text. */
export async function openInspector(stderr: string): Promise<Inspector> {
  const [url] = /ws:\/\/\S+/.exec(stderr) ?? [];
  if (url === undefined) throw new Error(`no debugger listens: ${stderr}`);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let asked = 0;
  return {
    async collectGarbage() {
      // Twice: what finalizers of the first let go of goes with the second.
      for (let n = 0; n < 2; n += 1) {
        socket.send(JSON.stringify({ id: ++asked, method: 'HeapProfiler.collectGarbage' }));
        await once(socket, 'message');
      }
    },
    close: () => socket.terminate(),
  };
}
