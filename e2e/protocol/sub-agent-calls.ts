import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  newSession(): Promise<string>;
  model: Pick<ScriptedModel, 'when'>;
  key(): string;
}

/** A successful call of each method of sub-agents. */
export function subAgentCalls({ call, newSession, model, key }: Session) {
  /** A sub-agent that has ended. */
  const ended = async () => {
    const wsId = await newSession();
    const args = { title: 'Look there', prompt: 'what is in the cellar' };
    model.when('hand it over', callTools({ name: 'task', arguments: args }), say('Nothing.'));
    model.when('what is in the cellar', say('Nothing.'));
    await call('agent', { sessionKey: wsId, message: 'hand it over', idempotencyKey: key() });
    const { agents } = await call('subagent.list', { wsId });
    return { wsId, agentId: agents[0]?.agent_id ?? '' };
  };
  return {
    'subagent.list': ended,
    'subagent.messages': async () => call('subagent.messages', await ended()),
    'subagent.cancel': async () => call('subagent.cancel', await ended()),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
