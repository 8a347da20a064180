import { once } from 'node:events';
import { WebSocket } from 'ws';

/** The environment of a process whose debugger can be connected to. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** The debugger of a process, to trigger and to observe what belongs to Node, without changing the process. */
export interface Inspector {
  collectGarbage(): Promise<void>;
  /** Measures from now on how late the event loop is. */
  watchLoop(): Promise<void>;
  /** The 99th percentile since `watchLoop`, in milliseconds. */
  loopP99Ms(): Promise<number>;
  /** The longest delay since `watchLoop`, in milliseconds. */
  loopMaxMs(): Promise<number>;
  close(): void;
}

/** Connects to the debugger whose address `--inspect` printed in this text. */
export async function openInspector(stderr: string): Promise<Inspector> {
  const [url] = /ws:\/\/\S+/.exec(stderr) ?? [];
  if (url === undefined) throw new Error(`no debugger listens: ${stderr}`);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let asked = 0;
  const ask = async (method: string, params: object = {}): Promise<Answer> => {
    socket.send(JSON.stringify({ id: ++asked, method, params }));
    const [data] = await once(socket, 'message');
    return JSON.parse(String(data));
  };
  const evaluate = async (expression: string): Promise<number> => {
    const { result } = await ask('Runtime.evaluate', { expression, returnByValue: true });
    if (result.exceptionDetails) throw new Error(`the debugger answered ${JSON.stringify(result.exceptionDetails)}`);
    return Number(result.result?.value);
  };
  return {
    async collectGarbage() {
      // Twice, because finalizers of the first collection release more memory.
      for (let n = 0; n < 2; n += 1) await ask('HeapProfiler.collectGarbage');
    },
    async watchLoop() {
      await evaluate(WATCH);
    },
    loopMaxMs: () => evaluate('benchLoop.max / 1e6'),
    loopP99Ms: () => evaluate('benchLoop.percentile(99) / 1e6'),
    close: () => socket.terminate(),
  };
}

interface Answer {
  result: { result?: { value?: unknown }; exceptionDetails?: unknown };
}

/** The histogram contains the resolution of its timer, so that is as small as can be. */
const WATCH = `globalThis.benchLoop?.disable();
globalThis.benchLoop = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: 1 });
benchLoop.enable(); 0`;
