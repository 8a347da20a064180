import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  /** A session whose last run has written a file. */
  written(): Promise<string>;
}

/** A successful call of each method about what runs changed on disk. */
export function checkpointCalls({ call, written }: Session) {
  return {
    'checkpoint.list': async () => call('checkpoint.list', { wsId: await written() }),
    'checkpoint.diff': async () => call('checkpoint.diff', { wsId: await written() }),
    'checkpoint.preview': async () => call('checkpoint.preview', { wsId: await written() }),
    'checkpoint.undo': async () => call('checkpoint.undo', { wsId: await written() }),
    'checkpoint.redo': async () => {
      const wsId = await written();
      await call('checkpoint.undo', { wsId });
      return call('checkpoint.redo', { wsId });
    },
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
