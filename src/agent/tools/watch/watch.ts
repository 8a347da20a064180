import { z } from 'zod';
import type { Watch } from '../../../../protocol/events/watch.ts';
import { spanWords } from '../../../../protocol/text/background-words.ts';
import { parseInterval } from '../../watches/interval.ts';
import { parseStopOn } from '../../watches/stop-on/parse.ts';
import { StopOnError } from '../../watches/stop-on/tokens.ts';
import { MAX_ACTIVE, type WatchBook } from '../../watches/watch-book.ts';
import type { BashArguments } from '../shell/bash-arguments.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome, ToolRun } from '../tool.ts';

const STANDARD_INTERVAL = '5m';
const STANDARD_POLLS = 100;
const MAX_POLLS = 10_000;
const MAX_NAME = 80;

const WatchArguments = z.strictObject({
  action: z.enum(['create', 'list', 'cancel']),
  name: z.string().max(MAX_NAME).optional().describe('create: a label; cancel: the name or id of the watch'),
  command: z.string().min(1).max(10_000).optional().describe('create: the command, for bash -c'),
  interval: z
    .union([z.string().max(40), z.number()])
    .optional()
    .describe(`create: the time between polls, 10s to 24h, such as 30s, 5m or 2h30m (default ${STANDARD_INTERVAL})`),
  stop_on: z
    .string()
    .max(1_000)
    .optional()
    .describe(
      'create: the condition that ends the watch, over output, data (output as JSON, or None), exit_code, prev_output and changed, with and, or, not, in, comparisons, len, lower, strip, startswith, endswith and get: data.get("status") == "done" or "error" in output.lower(). Without it, the watch ends when the output changes',
    ),
  max_polls: z.int().min(1).max(MAX_POLLS).optional().describe(`create: polls at most (default ${STANDARD_POLLS})`),
});
type WatchArguments = z.infer<typeof WatchArguments>;

interface WatchToolDeps {
  book: WatchBook;
  /** Reads and checks the command as if it were to run now. */
  bash: Pick<Tool<BashArguments>, 'prepare'>;
}

/** Lets the agent wait for something outside the conversation: a command is polled, and its result comes as a message. */
export const createWatchTool = (deps: WatchToolDeps): Tool<WatchArguments> => ({
  name: 'watch',
  description: [
    'Polls a command at an interval until a condition holds, also after your turn has ended and over restarts. The result then',
    `comes as a message, and the watch is over. For builds, deployments and other things that take long. At most ${MAX_ACTIVE} are active`,
    'in a conversation; the first poll is made at once. Each poll is a new shell in the working directory.',
  ].join(' '),
  parameters: WatchArguments,
  readOnly: false,
  safeToRepeat: false,
  prepare: (args, context) => prepare(args, context, deps),
});

async function prepare(args: WatchArguments, context: ToolContext, deps: WatchToolDeps): Promise<Prepared> {
  if (args.action === 'create') return prepareCreation(args, context, deps);
  const { book } = deps;
  const { wsId } = context;
  const { name = '' } = args;
  if (args.action === 'cancel' && name === '')
    return { kind: 'refused', subject: 'cancel', reason: 'cancel needs the name or the id of the watch, as name.' };
  return {
    kind: 'ready',
    subject: args.action === 'cancel' ? `cancel ${name}` : 'list',
    preview: '',
    approvalLabel: 'watch',
    needsApproval: false,
    execute: () => (args.action === 'cancel' ? cancel(book, wsId, name) : list(book, wsId)),
  };
}

async function prepareCreation(
  args: WatchArguments,
  context: ToolContext,
  { book, bash }: WatchToolDeps,
): Promise<Prepared> {
  const read = readCreation(args);
  if ('problem' in read) return { kind: 'refused', subject: 'create', reason: read.problem };
  const { command, name, secs, stopOn, maxPolls } = read;
  const prepared = await bash.prepare({ command }, context);
  if (prepared.kind === 'refused') return prepared;
  const { reading, bindTo } = prepared;
  return {
    kind: 'ready',
    subject: `every ${spanWords(secs * 1_000)}: ${prepared.subject}`,
    preview: [
      command,
      '',
      `Every ${spanWords(secs * 1_000)}, at most ${maxPolls} times`,
      `Until: ${stopOn ?? 'the output changes'}`,
    ].join('\n'),
    approvalLabel: 'watch',
    needsApproval: true,
    runsLater: { tool: 'bash', command },
    ...(reading && { reading }),
    ...(bindTo !== undefined && { bindTo }),
    async execute({ grants }: ToolRun) {
      const created = await book.create({
        wsId: context.wsId,
        name,
        command,
        intervalSecs: secs,
        stopOn,
        maxPolls,
        allowed: grants?.allowed,
      });
      return created ? { output: toCreated(created), outcome: 'done' } : TOO_MANY;
    },
  };
}

const TOO_MANY: ToolOutcome = {
  output: `There are ${MAX_ACTIVE} active watches already. Cancel one first; action "list" shows them.`,
  outcome: 'failed',
};

interface Creation {
  command: string;
  name: string;
  secs: number;
  stopOn: string | undefined;
  maxPolls: number;
}

function readCreation(args: WatchArguments): Creation | { problem: string } {
  const { command = '', interval = STANDARD_INTERVAL, max_polls: maxPolls = STANDARD_POLLS } = args;
  if (command.trim() === '') return { problem: 'create needs a command.' };
  const read = parseInterval(String(interval));
  if ('problem' in read) return read;
  const stopOn = args.stop_on?.trim() === '' ? undefined : args.stop_on;
  const problem = stopOn === undefined ? undefined : problemIn(stopOn);
  if (problem !== undefined) return { problem: `Invalid stop_on: ${problem}.` };
  const [first = ''] = command.trim().split('\n');
  const name = args.name?.trim() || first.slice(0, MAX_NAME);
  return { command, name, secs: read.secs, stopOn, maxPolls };
}

function problemIn(stopOn: string): string | undefined {
  try {
    parseStopOn(stopOn);
    return undefined;
  } catch (error) {
    if (error instanceof StopOnError) return error.message;
    throw error;
  }
}

const toCreated = ({ watch_id: id, interval_secs: secs, max_polls: most }: Watch): string =>
  `Watch ${id} is active: every ${spanWords(secs * 1_000)}, at most ${most} polls. Its result comes as a message; you need not wait for it.`;

async function list(book: WatchBook, wsId: string): Promise<ToolOutcome> {
  const active = await book.active(wsId);
  return { output: active.length === 0 ? 'No watch is active.' : active.map(toLine).join('\n'), outcome: 'done' };
}

/** Without the output: it would come without what it taints. */
const toLine = ({ watch_id: id, name, command, interval_secs: secs, poll_count: count, max_polls: most }: Watch) =>
  `${id} "${name}": ${command} (every ${spanWords(secs * 1_000)}, poll ${count} of ${most})`;

async function cancel(book: WatchBook, wsId: string, name: string): Promise<ToolOutcome> {
  const ended = await book.cancel(wsId, name);
  return ended
    ? { output: `Watch ${ended.watch_id} is cancelled after ${ended.poll_count} polls.`, outcome: 'done' }
    : { output: `No active watch is called ${JSON.stringify(name)}. Action "list" shows them.`, outcome: 'failed' };
}
