import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { fileCalls } from './file-calls.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  key(): string;
  model: Pick<ScriptedModel, 'when'>;
  home: string;
}

/** A successful call of each method about files: those of workstreams, and what runs changed on disk. */
export function checkpointCalls({ call, key, model, home }: Session) {
  /** A session whose last run has written a file. */
  const written = async (): Promise<string> => {
    const { wsId } = await call('workstream.create', { autoApprove: true });
    const [file, runId] = [`written-${key()}`, key()];
    const command = `echo ${file} > ${file}`;
    model.when(file, callTools({ name: 'bash', arguments: { command } }), say('written'));
    await call('chat.send', { sessionKey: wsId, message: file, idempotencyKey: runId });
    await call('agent.wait', { runId, timeoutMs: 60_000 });
    return wsId;
  };
  return {
    ...fileCalls({ call, home }),
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
