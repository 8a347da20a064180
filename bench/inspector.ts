import { once } from 'node:events';
import { WebSocket } from 'ws';

/** The debugger of a process, to trigger garbage collection without changing the process. */
export interface Inspector {
  collectGarbage(): Promise<void>;
  close(): void;
}

/** Connects to the debugger whose address `--inspect` printed in this text. */
export async function openInspector(stderr: string): Promise<Inspector> {
  const [url] = /ws:\/\/\S+/.exec(stderr) ?? [];
  if (url === undefined) throw new Error(`no debugger listens: ${stderr}`);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let asked = 0;
  return {
    async collectGarbage() {
      // Twice, because finalizers of the first collection release more memory.
      for (let n = 0; n < 2; n += 1) {
        socket.send(JSON.stringify({ id: ++asked, method: 'HeapProfiler.collectGarbage' }));
        await once(socket, 'message');
      }
    },
    close: () => socket.terminate(),
  };
}
