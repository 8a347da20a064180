import type { Result } from '../../../../protocol/index.ts';
import type { ModelRow } from '../../../../protocol/methods/models.ts';
import type { WorkstreamState } from '../../../../protocol/stream-events.ts';

/** What a test of a model found. */
export type Tested = Result<'models.test'> | 'waiting';

/** Where the model of a row comes from. */
export function toOrigin({ provider, id }: Pick<ModelRow, 'provider' | 'id'>): string {
  if (provider === 'demo') return 'built in, offline, for trying Headgate';
  if (provider === 'openai-compatible') return 'a server that speaks the interface of OpenAI';
  return id.startsWith(`${provider}/`) || id === provider ? `${provider}, by the key that was found` : provider;
}

/** What to do so that there is more to choose from. */
export const MORE_MODELS =
  'Add a model here, or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_BASE_URL and restart Headgate.';

/** The result of a test, for people. */
export function toTestWords(tested: Tested): string {
  if (tested === 'waiting') return 'Asking…';
  if (tested.ok)
    return `It works: ${tested.name ?? 'the model'} answered in ${(tested.elapsedMs / 1_000).toFixed(1)} s.`;
  const { kind, text } = tested.problem ?? { kind: 'refused', text: 'It cannot be used.' };
  const remedy = REMEDIES[kind];
  return remedy === undefined ? text : `${text} ${remedy}`;
}

const REMEDIES: Partial<Record<string, string>> = {
  unauthorized: 'Check the key. A key in the environment is read again at a restart.',
  unreachable: 'Is the server running, and may this machine reach it?',
  timeout: 'The server may be busy: try again.',
  rate_limited: 'The account has reached a limit: wait, or use another model.',
};

/** What happens in the first task, and what to do. */
export function toTaskWords(state: WorkstreamState, hasAnswer: boolean): string {
  if (state === 'attention')
    return 'The agent asks before it changes something. Read what it wants to do, then choose Approve. Deny also takes a reason, which the agent reads.';
  if (state !== 'idle' && state !== 'error')
    return 'The agent works on the task. Everything that it does is shown here.';
  if (state === 'error')
    return 'The model could not answer. The message above says why; another model can be chosen below.';
  return hasAnswer
    ? 'That was all: you ask, the agent asks back, and you decide. Questions of all workstreams wait in the Inbox, the folder above the conversation shows its files, and Agent in the list has tools, skills and memories.'
    : 'The task is being sent.';
}
