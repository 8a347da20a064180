import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';
import { isCoordination } from '../../../../protocol/events/coordination/is-coordination.ts';
import type { Mode } from '../../../../protocol/events/modes.ts';
import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import type { TodoItem } from '../../../../protocol/events/todo.ts';
import { isBusy } from '../../../../protocol/is-busy.ts';
import type { WorkstreamSnapshot } from '../../../../protocol/methods/workstream.ts';
import type { RunOutcome } from '../../../../protocol/run-outcome.ts';
import type {
  Effort,
  HistoryMessage,
  HistoryNote,
  StatusRecord,
  StreamEvent,
  StreamEventOf,
  WorkstreamState,
} from '../../../../protocol/stream-events.ts';
import { addSpending } from '../../../../protocol/text/spending/spending-words.ts';
import type { ModelWait } from '../../../../protocol/text/wait-words.ts';
import { withAgent } from '../agents/agent-list.ts';
import { withCommand } from '../background/background.ts';
import { type Children, NO_CHILDREN } from '../coordinators/children.ts';
import { foldCoordination } from '../coordinators/quiet-lines.ts';
import { type AnswerBlock, type Block, isStreaming, replaceLast, type SummaryBlock, type UserBlock } from './blocks.ts';
import { foldCalls } from './fold-calls.ts';
import { joinPages, toBlocks } from './history-blocks.ts';
import { addLate } from './late-verdicts.ts';
import { showsSpent, showUnshown, type Unshown, unshownIn } from './spent.ts';
import { removeMessage, rewindBlocks } from './taken-back.ts';
import { appendOutput, askApproval, closeTools, finishTool, warnOfOutput } from './tool-blocks.ts';

/** Whether calls run without asking, and until when; without `untilMs`, indefinitely. */
export interface AutoApprove {
  readonly isOn: boolean;
  readonly untilMs: number | undefined;
}

/** One workstream as the page shows it: a pure fold of a snapshot and the events after it. */
export interface Conversation {
  readonly wsId: string;
  readonly name: string;
  readonly model: string;
  readonly modelAlias: string;
  readonly effort: Effort;
  readonly workdir: string;
  readonly autoApprove: AutoApprove;
  /** What runs without asking. */
  readonly mode: Mode;
  readonly state: WorkstreamState;
  /** The model has not started to answer yet. */
  readonly waiting: boolean;
  /** Why the model is asked again later, and when. */
  readonly wait: ModelWait | undefined;
  readonly blocks: readonly Block[];
  /** The oldest stored message shown; older ones are read `before` it. */
  readonly firstSeq: number | undefined;
  /** Older messages exist. */
  readonly truncated: boolean;
  readonly status: StatusRecord | undefined;
  /** The background commands that run, and the latest that ended while they were shown. */
  readonly background: readonly BackgroundCommand[];
  /** The sub-agents of the run in progress. */
  readonly agents: readonly SubAgent[];
  /** Of a coordinator. */
  readonly children: Children;
  /** The agent's checklist at the time of the snapshot; a later call of it is among the blocks. */
  readonly olderTodo: readonly TodoItem[] | undefined;
  readonly unshown: Unshown;
  /** Counts the blocks made from events, to give each its key. */
  readonly made: number;
}

export function toConversation(snapshot: WorkstreamSnapshot): Conversation {
  const { workstream, model, workdir, messages, notes, truncated, pendingApprovals, status, effort } = snapshot;
  const busy = isBusy(workstream.state);
  const stored = toBlocks(messages, notes);
  const asked = pendingApprovals.reduce<readonly Block[]>(
    (blocks, { approvalId, kind, items, budget, expiresAtMs }) =>
      askApproval(blocks, { key: `a${approvalId}`, approvalId, question: kind, items, budget, expiresAtMs }),
    busy ? stored : closeTools(stored),
  );
  return {
    wsId: workstream.wsId,
    name: workstream.name,
    model,
    modelAlias: workstream.modelAlias,
    effort,
    workdir,
    autoApprove: { isOn: workstream.skipPermissions, untilMs: workstream.skipPermissionsUntilMs },
    mode: workstream.mode,
    state: workstream.state,
    waiting: false,
    wait: undefined,
    blocks: asked,
    firstSeq: messages[0]?.seq,
    truncated,
    status,
    background: snapshot.backgroundCommands ?? [],
    agents: [],
    children: NO_CHILDREN,
    olderTodo: snapshot.todo,
    unshown: unshownIn(messages),
    made: 0,
  };
}

/** Applies one event to the conversation. */
export function foldEvent(before: Conversation, event: StreamEvent): Conversation {
  const key = `e${before.made}`;
  const now: Conversation = { ...before, made: before.made + 1 };
  const { blocks, agents } = now;
  switch (event.type) {
    case 'user_turn':
      return { ...now, blocks: [...blocks, toQuestionBlock(event, key)], unshown: undefined };
    case 'thinking_start':
      return { ...now, waiting: true };
    case 'thinking_stop':
      return { ...now, waiting: false };
    case 'wait_start':
      return { ...now, wait: event };
    case 'wait_stop':
      return { ...now, wait: undefined };
    case 'reasoning':
    case 'content':
      return { ...now, waiting: false, blocks: addDelta(blocks, event, key) };
    case 'stream_end':
      return { ...now, waiting: false, wait: undefined, ...endAnswer(now, event) };
    case 'status':
      return { ...now, status: toStatus(event) };
    case 'tool_info':
    case 'approve_request':
    case 'approval_resolved':
      return { ...now, blocks: foldCalls({ blocks, agents }, event, key) };
    case 'tool_output_chunk':
      return { ...now, blocks: appendOutput(blocks, event) };
    case 'tool_result':
      return { ...now, blocks: finishTool(blocks, event, key) };
    case 'background_command':
    case 'sub_agent':
      return { ...now, ...aside(now, event) };
    case 'output_warning':
      return { ...now, blocks: warnOfOutput(blocks, event) };
    case 'info':
    case 'error':
      return { ...now, blocks: [...blocks, { kind: 'note', key, level: event.type, text: event.message }] };
    case 'clear_ui':
      return { ...now, ...EMPTY };
    case 'history':
      return { ...now, blocks: closeTools(toBlocks(event.messages)), firstSeq: event.messages[0]?.seq };
    case 'rewound':
      return { ...now, blocks: rewindBlocks(now, event), waiting: false, status: undefined, olderTodo: undefined };
    case 'message_removed':
      return { ...now, blocks: removeMessage(blocks, event) };
    case 'compacted':
      return addSummary(now, event, key);
    case 'cancelled':
      return { ...now, waiting: false, blocks: closeTools(cutAnswer(blocks)) };
    case 'ws_state':
      return onState(now, event, key);
    case 'settings_changed':
      return onSettings(now, event);
    case 'intent_verdict':
    case 'judge_state':
      return { ...now, blocks: addLate(blocks, event) };
    default: // lists show titles and watches; the name stays
      return isCoordination(event) ? { ...now, ...foldCoordination(now, event, key) } : before;
  }
}

/** What goes on beside the conversation. */
const aside = ({ background, agents }: Conversation, event: StreamEventOf<'background_command' | 'sub_agent'>) =>
  event.type === 'sub_agent' ? { agents: withAgent(agents, event) } : { background: withCommand(background, event) };

const EMPTY = {
  blocks: [],
  waiting: false,
  firstSeq: undefined,
  truncated: false,
  status: undefined,
  olderTodo: undefined,
  unshown: undefined,
} satisfies Partial<Conversation>;

/** Prepends an older page to the conversation. */
export function prependPage(
  conversation: Conversation,
  page: { messages: readonly HistoryMessage[]; notes?: readonly HistoryNote[] | undefined; truncated: boolean },
): Conversation {
  const older = closeTools(toBlocks(page.messages, page.notes));
  const firstSeq = page.messages[0]?.seq ?? conversation.firstSeq;
  const newer = showUnshown(conversation.blocks, unshownIn(page.messages));
  return { ...conversation, blocks: joinPages(older, newer), firstSeq, truncated: page.truncated };
}

/** A summary that is already shown came with the snapshot. */
function addSummary(now: Conversation, event: StreamEventOf<'compacted'>, key: string): Conversation {
  const { to_seq: toSeq, summary } = event;
  const isShown = now.blocks.some((block) => block.kind === 'summary' && block.text === summary);
  const block: SummaryBlock = { kind: 'summary', key, toSeq, text: summary, isNew: true };
  const blocks = isShown ? now.blocks : [...now.blocks, block];
  return { ...now, blocks, status: undefined };
}

const toQuestionBlock = (event: StreamEventOf<'user_turn'>, key: string): UserBlock => ({
  kind: 'user',
  key,
  text: event.message,
  source: event.source,
  runId: event.run_id,
  ...(event.attachments && { attachments: event.attachments }),
  seq: event.seq,
  sentMs: event.created_ms,
});

function addDelta(
  blocks: readonly Block[],
  event: StreamEventOf<'content'> | StreamEventOf<'reasoning'>,
  key: string,
): readonly Block[] {
  const add = (answer: AnswerBlock): AnswerBlock =>
    event.type === 'content'
      ? { ...answer, text: answer.text + event.text }
      : { ...answer, reasoning: answer.reasoning + event.text };
  if (blocks.some(isStreaming)) return replaceLast(blocks, isStreaming, add);
  return [...blocks, add({ kind: 'answer', key, text: '', reasoning: '', streaming: true, partial: false })];
}

/** Drops the answer that a crash interrupted: the model repeats the turn. */
function endAnswer(
  { blocks, unshown }: Pick<Conversation, 'blocks' | 'unshown'>,
  { interrupted, created_ms: endedMs, spent }: Partial<StreamEventOf<'stream_end'>>,
): Pick<Conversation, 'blocks' | 'unshown'> {
  if (interrupted) return { blocks: blocks.filter((block) => !isStreaming(block)), unshown };
  const sum = addSpending(unshown, spent);
  const isShown = showsSpent(blocks.findLast(isEnding));
  const shown = isShown && sum && { spent: sum };
  const ended = replaceLast(blocks, isEnding, (answer) => ({ ...answer, streaming: false, endedMs, ...shown }));
  return { blocks: ended, unshown: isShown ? undefined : sum };
}

/** Also an answer that was cancelled a moment ago. */
const isEnding = (block: Block): block is AnswerBlock =>
  block.kind === 'answer' && (block.streaming || (block.partial && !block.stored && block.endedMs === undefined));

const cutAnswer = (blocks: readonly Block[]) =>
  replaceLast(blocks, isStreaming, (answer) => ({ ...answer, streaming: false, partial: true }));

function onState(now: Conversation, { state, run }: StreamEventOf<'ws_state'>, key: string): Conversation {
  if (isBusy(state)) return { ...now, state };
  const blocks = markFailed(closeTools(endAnswer({ blocks: now.blocks, unshown: undefined }, {}).blocks), run);
  const failure =
    run && run.status !== 'ok' && run.status !== 'cancelled'
      ? (run.error ?? `The run ended: ${run.status}`)
      : undefined;
  const told = blocks.at(-1);
  const isNew = failure !== undefined && !(told?.kind === 'note' && told.level === 'error');
  const all: readonly Block[] = isNew ? [...blocks, { kind: 'note', key, level: 'error', text: failure }] : blocks;
  return { ...now, state, waiting: false, wait: undefined, blocks: all, agents: [] };
}

/** Finds the message of the run. Stored messages have no run id; the last one is used. */
function markFailed(blocks: readonly Block[], run: RunOutcome | undefined): readonly Block[] {
  if (!run?.failed) return blocks;
  const asked = blocks.findLast((block) => block.kind === 'user' && (block.runId ?? run.run_id) === run.run_id);
  return blocks.map((block) => (block === asked ? { ...block, failed: run.failed } : block));
}

const onSettings = (now: Conversation, event: StreamEventOf<'settings_changed'>): Conversation => ({
  ...now,
  name: event.name,
  model: event.model,
  modelAlias: event.model_alias,
  effort: event.effort ?? now.effort,
  autoApprove: { isOn: event.skip_permissions, untilMs: event.skip_permissions_until_ms },
  mode: event.mode ?? (event.skip_permissions ? 'full' : 'ask'),
});

const toStatus = ({
  type: _,
  tool_calls_this_turn: _calls,
  turn_count: _turns,
  ...status
}: StreamEventOf<'status'>): StatusRecord => status;
