import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { coordinatorCalls } from './coordinator-calls.ts';
import { subAgentCalls } from './sub-agent-calls.ts';
import { watchCalls } from './watch-calls.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  newSession(): Promise<string>;
  model: Pick<ScriptedModel, 'when'>;
  key(): string;
}

/** A successful call of each method of background commands, watches and sub-agents. */
export function backgroundCalls(session: Session) {
  const { call, newSession, model, key } = session;
  /** A command that runs. */
  const started = async () => {
    const wsId = await newSession();
    await call('workstream.update', { wsId, autoApprove: true });
    const args = { command: 'echo here; sleep 600', run_in_background: true };
    model.when('go on alone', callTools({ name: 'bash', arguments: args }), say('It runs.'));
    await call('agent', { sessionKey: wsId, message: 'go on alone', idempotencyKey: key() });
    const { commands } = await call('background.list', { wsId });
    return { wsId, commandId: commands[0]?.command_id ?? '' };
  };
  return {
    ...watchCalls(session),
    ...subAgentCalls(session),
    ...coordinatorCalls(session),
    'background.list': started,
    'background.output': async () => call('background.output', await started()),
    'background.kill': async () => call('background.kill', await started()),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
