import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { HistoryMessage, StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { type Question, toQuestion } from '../terminal/question-lines.ts';
import { untilAnswered } from '../until-answered.ts';

/** How a run ended. */
export interface RunEnd {
  status: RunOutcome['status'];
  /** The last answer of the model. */
  answer: string;
  error?: string;
  /** The answer as data, for a run with a schema. */
  output?: unknown;
  usage?: Omit<StreamEventOf<'status'>, 'type'>;
}

interface FollowDeps {
  client: GatewayClient;
  wsId: string;
  message: string;
  /** A JSON Schema for the answer. */
  outputSchema: Record<string, unknown> | undefined;
  /** Of files that are already uploaded. */
  attachmentIds: string[];
  /** Becomes the run's id; repeating the key joins the same run. */
  key: string;
  /** The run was accepted. Called before its first event. */
  onBegin(runId: string): void;
  /** An event of this run, in the order of the log. */
  onEvent(event: StreamEvent): void;
  /** An approval of this run is pending. */
  onQuestion(question: Question): void;
}

/** A run that was started or joined. */
export interface FollowedRun {
  readonly runId: string;
  readonly ended: Promise<RunEnd>;
  close(): void;
}

/** Sends the message and follows its run across lost connections. Rejects if the message is refused. */
export async function followRun(deps: FollowDeps): Promise<FollowedRun> {
  const { client, wsId, message, outputSchema, attachmentIds, key } = deps;
  const progress = createProgress(deps);
  const opened = Promise.withResolvers<void>();
  let runId: string | undefined;
  const subscription = client.subscribe(wsId, {
    onSnapshot({ pendingApprovals }) {
      progress.onPending(pendingApprovals);
      opened.resolve();
    },
    onEvent: (event) => progress.onEvent(event),
    onReset: () => void joinAgain(),
    onError(error) {
      opened.reject(error);
      progress.ended.reject(error);
    },
  });
  /** After a reset some events are missing, so reads from the stored run whether it has ended. */
  const joinAgain = async () => {
    try {
      if (runId !== undefined) await endIfOver(client, { wsId, runId, message }, progress);
    } catch (error) {
      progress.ended.reject(error);
    }
  };
  await opened.promise;
  let attempts = 0;
  const answer = await untilAnswered(() => {
    attempts += 1;
    const asked = { ...(attachmentIds.length > 0 && { attachmentIds }), ...(outputSchema && { outputSchema }) };
    return client.call('chat.send', { sessionKey: wsId, message, ...asked, idempotencyKey: key });
  });
  runId = answer.runId;
  progress.begin(runId);
  // If the run is known at the first attempt, an earlier process started it. All other runs are followed from the start.
  if (attempts === 1 && answer.status !== 'started') {
    progress.join();
    await endIfOver(client, { wsId, runId, message }, progress);
  }
  return { runId, ended: progress.ended.promise, close: () => subscription.close() };
}

type Progress = ReturnType<typeof createProgress>;

/** Picks the run's events from the log and folds them into its result. */
function createProgress({ onBegin, onEvent, onQuestion }: Pick<FollowDeps, 'onBegin' | 'onEvent' | 'onQuestion'>) {
  const ended = Promise.withResolvers<RunEnd>();
  ended.promise.catch(() => undefined); // it may reject before anyone waits for it
  const early: StreamEvent[] = [];
  const asked = new Set<string>();
  let runId: string | undefined;
  let isOurs = false;
  let pending: readonly Approval[] = [];
  let answer = { text: '', isOpen: false };
  let usage: RunEnd['usage'];

  const ask = (question: Question) => {
    if (asked.has(question.approvalId)) return;
    asked.add(question.approvalId);
    onQuestion(question);
  };
  const fold = (event: StreamEvent) => {
    switch (event.type) {
      case 'content':
        answer = { text: (answer.isOpen ? answer.text : '') + event.text, isOpen: true };
        break;
      case 'stream_end':
        answer = { text: event.interrupted === true ? '' : answer.text, isOpen: false };
        break;
      case 'status': {
        const { type: _, ...record } = event;
        usage = record;
        break;
      }
      case 'approve_request':
        ask(toQuestion(event));
        break;
      default:
    }
  };
  const onTurn = ({ run_id, steered_run_id }: StreamEventOf<'user_turn'>) => {
    if (steered_run_id === runId) runId = run_id; // another client let it steer the run in progress
    if (run_id === runId) isOurs = true;
  };
  const take = (event: StreamEvent) => {
    if (event.type === 'user_turn') onTurn(event);
    const end = endOf(event, runId);
    if (isOurs || end !== undefined) {
      onEvent(event);
      fold(event);
    }
    if (end === undefined) return;
    isOurs = false;
    const { status, error, output } = end;
    const said = { ...(error !== undefined && { error }), ...(output !== undefined && { output }) };
    const details = { ...said, ...(usage && { usage }) };
    ended.resolve({ status, answer: answer.text, ...details });
  };
  return {
    ended,
    onEvent: (event: StreamEvent) => (runId === undefined ? void early.push(event) : take(event)),
    onPending(approvals: readonly Approval[]) {
      pending = approvals;
    },
    /** Sets the id of the run, and takes the events that arrived before it was known. */
    begin(id: string) {
      runId = id;
      onBegin(id);
      for (const event of early.splice(0)) take(event);
    },
    /** For a run that started before its log was followed. */
    join() {
      isOurs = true;
      for (const approval of pending) ask(toQuestion(approval));
    },
  };
}

const endOf = (event: StreamEvent, runId: string | undefined) =>
  event.type === 'ws_state' && event.run?.run_id === runId ? event.run : undefined;

interface Known {
  wsId: string;
  runId: string;
  message: string;
}

async function endIfOver(client: GatewayClient, { wsId, runId, message }: Known, { ended }: Progress): Promise<void> {
  const result = await untilAnswered(() => client.call('agent.wait', { runId, timeoutMs: 0 }));
  if (result.status === 'timeout') return;
  const { snapshot } = await untilAnswered(() => client.call('workstream.get', { wsId }));
  ended.resolve({
    status: result.status,
    answer: findAnswer(snapshot.messages, message),
    ...(result.error !== undefined && { error: result.error }),
    ...(result.output !== undefined && { output: result.output }),
  });
}

/** The last answer before the next message of a person. */
function findAnswer(messages: readonly HistoryMessage[], question: string): string {
  const from = messages.findLastIndex(({ role, content }) => role === 'user' && content === question.trim());
  const after = messages.slice(from + 1);
  const next = after.findIndex(({ role }) => role === 'user');
  const said = next < 0 ? after : after.slice(0, next);
  return said.findLast(({ role, content }) => role === 'assistant' && Boolean(content))?.content ?? '';
}
