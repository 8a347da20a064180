import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { findToolChanges, type ToolChange } from '../../agent/prefix/tool-changes.ts';
import type { ToolDefinition } from '../../agent/providers/model.ts';
import { type Toolbox, toolboxFor } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import { whenIdle } from '../cuts/busy.ts';
import { planCut } from '../cuts/new-cut.ts';
import { readPrefix } from '../runs/prefix-rows.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import type { Store } from '../store/store.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

interface ToolsCommandDeps {
  store: Store;
  toolbox: Pick<Toolbox, 'definitions' | 'forCoordinators'>;
  clock: Pick<Clock, 'now'>;
}

type Say = (to: Workstream, text: string) => Promise<void>;

/**
 * `/tools`: lists the tools that the requests of the conversation have, with what has changed since. `/tools accept`: a cut,
 * after which they have the present ones; throws BUSY while a run is in progress.
 */
export const createToolsCommand =
  (deps: ToolsCommandDeps, say: Say) =>
  async (argument: string, workstream: Workstream): Promise<void> => {
    if (argument === 'accept') {
      const told = await whenIdle(workstream, 'command', (data) => accept(data, deps));
      if (told !== undefined) await say(workstream, told);
      return;
    }
    if (argument !== '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('tools')}`);
    const sent = await findSent(workstream.data, deps);
    await say(workstream, listOf(sent, toolsOf(workstream.data, deps)));
  };

/** The present tools of a workstream. */
const toolsOf = ({ kind }: WorkstreamData, { toolbox }: ToolsCommandDeps): readonly ToolDefinition[] =>
  toolboxFor(kind, toolbox).definitions();

/** The tools that the requests of the conversation have; undefined if its next request makes a new prefix. */
async function findSent(
  { wsId, contextAfterSeq }: WorkstreamData,
  { store }: ToolsCommandDeps,
): Promise<readonly ToolDefinition[] | undefined> {
  const stored = await readPrefix(store, wsId);
  return stored?.afterSeq === contextAfterSeq ? stored.prefix.tools : undefined;
}

/** Returns what to say if there is nothing to accept. */
async function accept(data: WorkstreamData, deps: ToolsCommandDeps): Promise<string | undefined> {
  const sent = await findSent(data, deps);
  if (!sent) return NOTHING_SENT;
  const changes = findToolChanges(sent, toolsOf(data, deps));
  if (changes.length === 0) return UNCHANGED;
  const { wsId, contextAfterSeq: afterSeq, messageCount: toSeq } = data;
  const message = `The model has the present tools from the next message on. ${toSentence(changes)}`;
  const event = { type: 'info' as const, message };
  const planned = { store: deps.store, nowMs: deps.clock.now() };
  const cut = await planCut(data, { kind: 'tools', afterSeq, toSeq, event }, planned);
  // The messages stay as they are, so the last count still describes them until the next answer.
  const usage = data.usage && { usage: data.usage.usage, contextWindow: data.usage.contextWindow };
  const kept = usage ? [setWorkstream(wsId, { usage_json: JSON.stringify(usage) })] : [];
  await deps.store.commit({ statements: [...cut.statements, ...kept], events: { wsId, events: [cut.event] } });
  cut.apply();
  data.usage = usage;
  return undefined;
}

const NOTHING_SENT = 'There is nothing to accept: the next message begins with the present tools.';
const UNCHANGED = 'There is nothing to accept: the tools have not changed since this conversation began.';

function listOf(sent: readonly ToolDefinition[] | undefined, present: readonly ToolDefinition[]): string {
  if (!sent) return ['The next message begins with these tools:', ...toLines(present)].join('\n');
  const changes = findToolChanges(sent, present);
  const differences =
    changes.length === 0
      ? ['They have not changed since the conversation began.']
      : [
          'Since then, this has changed:',
          ...changes.map(({ name, kind }) => `  ${name}: ${WORDS[kind]}`),
          'With /tools accept, the model has the present tools from the next message on.',
        ];
  return ['The model has these tools in this conversation:', ...toLines(sent), ...differences].join('\n');
}

const WORDS: Record<ToolChange['kind'], string> = {
  added: 'new',
  removed: 'no longer available',
  arguments: 'takes other arguments',
  description: 'is described in other words',
};

const toSentence = (changes: readonly ToolChange[]): string =>
  `What has changed: ${changes.map(({ name, kind }) => `${name} (${WORDS[kind]})`).join(', ')}.`;

const MOST_CHARS = 100;

function toLines(tools: readonly ToolDefinition[]): string[] {
  const width = Math.max(...tools.map(({ name }) => name.length));
  return tools.map(({ name, description }) => {
    const [first = ''] = description.split('\n');
    const short = first.length > MOST_CHARS ? `${first.slice(0, MOST_CHARS - 1)}…` : first;
    return `  ${name.padEnd(width)}  ${short}`.trimEnd();
  });
}
