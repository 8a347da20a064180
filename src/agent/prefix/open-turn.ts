import type { EnvironmentMark, Message, UserMessage } from '../message.ts';
import type { InstructionFile } from '../project/instructions.ts';
import type { Model } from '../providers/model.ts';
import type { RunContext } from '../run/run-context.ts';
import { findChanges } from './changes.ts';
import { markOf } from './environment-mark.ts';
import { createPrefix, type NewPrefix, type Now, type Prefix } from './prefix.ts';
import { lookAround, type Seen } from './settle-trust.ts';

interface OpenedTurn {
  /** The prefix of the next request, to be stored with the next step; undefined: the stored one remains. */
  newPrefix: NewPrefix | undefined;
  /** For people, with the next step. */
  notes: string[];
}

/**
 * Makes a new prefix where the conversation begins, after a cut, or for another family of models. Otherwise records a message
 * about what has changed since the model was told. `seen`: what was just seen; otherwise it looks.
 */
export async function openTurn(
  run: RunContext,
  model: Pick<Model, 'modelId' | 'family'>,
  seen?: Seen,
): Promise<OpenedTurn> {
  const { path: workdir } = run.settings.workdir;
  const { sight, undecided } = seen ?? (await lookAround(run));
  const { toolbox, notSandboxed } = run;
  const prefix = run.prefix();
  if (!prefix) await toolbox.ready?.(run.signal);
  const now: Now = { sight, workdir, model, tools: toolbox.definitions(), notSandboxed };
  const isAnswered = run.messages.some(({ role }) => role === 'assistant');
  if (!prefix || prefix.family !== model.family || !isAnswered) {
    const variables = { ws_id: run.wsId, node_id: run.templates.nodeId };
    const templates = { text: await run.templates.read(), variables };
    const newPrefix = createPrefix(now, { version: run.ids.secret(8), templates });
    const isFirst = !prefix && !isAnswered;
    return { newPrefix, notes: isFirst && undecided.length > 0 ? [notUsed(undecided)] : [] };
  }
  const changes = findChanges(prefix.version, toldIn(run.messages, prefix), now);
  if (changes) {
    await run.recorder.record({
      events: [{ type: 'info', message: changes.note }],
      messages: [changes.message],
    });
  }
  return { newPrefix: undefined, notes: [] };
}

/** The prefix after a cut within a turn. */
export async function beginAnew(run: RunContext, model: Pick<Model, 'modelId' | 'family'>): Promise<Prefix> {
  const { newPrefix } = await openTurn(run, model);
  if (!newPrefix) throw new Error('a conversation without a prefix has not got a new one');
  await run.recorder.record({ prefix: newPrefix });
  return newPrefix;
}

/** A message of the daemon to the model. People do not see it. `marks`: what the message has besides. */
export const toldMessage = (
  messages: readonly Message[],
  prefix: Prefix,
  { text, ...marks }: { text: string } & Pick<EnvironmentMark, 'outputOf' | 'memories' | 'nudge' | 'skills' | 'taint'>,
): UserMessage => ({
  role: 'user',
  content: `<environment>\n${text}\n</environment>`,
  trusted: true,
  environment: { version: prefix.version, told: toldIn(messages, prefix), ...marks },
});

/** What the model was told last. */
export function toldIn(messages: readonly Message[], { version, told }: Prefix) {
  const last = messages.findLast((message) => markOf(message)?.version === version);
  return (last && markOf(last)?.told) ?? told;
}

/** Without what was told under an earlier prefix. */
export const messagesAfter = ({ version }: Prefix, messages: readonly Message[]): readonly Message[] =>
  messages.filter((message) => (markOf(message)?.version ?? version) === version);

const notUsed = (files: readonly InstructionFile[]): string =>
  `Instructions found but not used, because their folder is not trusted: ${files.map(({ path: file }) => file).join(', ')}. ` +
  'To use them, add the folder to agents.trusted in config.json.';
