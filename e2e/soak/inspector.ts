import { within } from '../support/deadline.ts';

/** Inspects a process that was started with `--inspect`, without help from the product. */
export interface Inspector extends Disposable {
  /** Collects all garbage, then counts what is left. */
  liveMemory(): Promise<LiveMemory>;
  /** Writes a heap snapshot to a file for DevTools. */
  writeSnapshot(file: string): Promise<void>;
}

export interface LiveMemory {
  heapBytes: number;
  /** Buffers and other memory outside the heap. */
  externalBytes: number;
  /** The number of live objects of each kind. */
  alive: Record<keyof typeof KINDS, number>;
}

/** The kinds of objects that must not accumulate, each with an expression for its prototype. */
const KINDS = {
  timers: '(() => { const t = setTimeout(() => {}, 0); clearTimeout(t); return Object.getPrototypeOf(t); })()',
  signals: 'AbortSignal.prototype',
  promises: 'Promise.prototype',
  sockets: "process.getBuiltinModule('net').Socket.prototype",
  children: "process.getBuiltinModule('child_process').ChildProcess.prototype",
} as const;

// biome-ignore lint/suspicious/noExplicitAny: the DevTools protocol; each use says what it expects.
type Result = any;
interface Answer {
  id: number;
  result: Result;
  error?: { message: string };
}

const ANSWER_MS = 60_000;
const GROUP = 'soak';

/** Connects to the address that the process printed on stderr. */
export async function openInspector(stderr: string): Promise<Inspector> {
  const url = /ws:\/\/\S+/.exec(stderr)?.[0];
  if (url === undefined) throw new Error('the process was not started with --inspect');
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer: Answer = JSON.parse(String(data));
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let sent = 0;
  const call = async (method: string, params: object = {}): Promise<Result> => {
    const id = ++sent;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await within(promise, ANSWER_MS, () => method);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await call('Runtime.evaluate', { expression, objectGroup: GROUP });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result;
  };
  const countAlive = async (prototype: string): Promise<number> => {
    const { objectId } = await evaluate(prototype);
    const { objects } = await call('Runtime.queryObjects', { prototypeObjectId: objectId, objectGroup: GROUP });
    const { result } = await call('Runtime.callFunctionOn', {
      objectId: objects.objectId,
      functionDeclaration: 'function () { return this.length; }',
    });
    await call('Runtime.releaseObjectGroup', { objectGroup: GROUP });
    return result.value;
  };
  return {
    async liveMemory() {
      const alive = {
        timers: await countAlive(KINDS.timers),
        signals: await countAlive(KINDS.signals),
        promises: await countAlive(KINDS.promises),
        sockets: await countAlive(KINDS.sockets),
        children: await countAlive(KINDS.children),
      };
      await call('HeapProfiler.collectGarbage');
      const { usedSize, embedderHeapUsedSize, backingStorageSize } = await call('Runtime.getHeapUsage');
      return { heapBytes: usedSize, externalBytes: embedderHeapUsedSize + backingStorageSize, alive };
    },
    writeSnapshot: (file) => evaluate(`process.getBuiltinModule('v8').writeHeapSnapshot(${JSON.stringify(file)})`),
    [Symbol.dispose]: () => socket.close(),
  };
}
