import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ResponseFrame } from '../../protocol/frames.ts';
import type { Approval } from '../../protocol/methods/approval.ts';
import type { StreamEventOf } from '../../protocol/stream-events.ts';
import type { Random } from '../checker/random.ts';
import { within } from '../support/deadline.ts';
import type { Heard, Listener } from './listener.ts';
import { raceFile } from './race-file.ts';
import { EXPIRES_MS, type RaceStage } from './stage.ts';

/** In `auto`, the verdict of the judge may decide, too; its rules approve only calls that read. */
const MODES = ['ask', 'auto'] as const;
const TOOLS = { ask: 'write_file', auto: 'list_directory' } as const;
/** How many turns of the event loop come between two moves: the judge's model takes some to answer. */
const MOST_TURNS = { ask: 4, auto: 80 } as const;
/** Longer than any machine needs; what a client may wait is judged afterwards. */
const PATIENCE_MS = 60_000;

/** What happens to a question. The first ones decide it; the others only get in between. */
const MOVES = ['approve', 'give a rule', 'deny', 'always', 'cancel', 'expire', 'forbid', 'judge'] as const;
export type Move = (typeof MOVES)[number];

/** Everything that was seen of a round. */
export interface Round {
  wsId: string;
  mode: (typeof MODES)[number];
  recommendation: 'approve' | 'deny';
  approvalId: string;
  moves: readonly Move[];
  /** The answers to the moves that have one. */
  answers: ReadonlyMap<Move, ResponseFrame>;
  /** Of each client. */
  heard: readonly (readonly Heard[])[];
  verdicts: readonly StoredVerdict[];
  /** Of the stored results of calls. */
  outcomes: readonly string[];
  isWritten: boolean;
}

interface StoredMessage {
  /** Of results of calls. */
  outcome?: string;
}

export type StoredVerdict = Record<'tier' | 'decision' | 'recommendation', string>;

/** Asks one question, and lets everything happen to it at once. */
export async function playRound(stage: RaceStage, number: number, random: Random): Promise<Round> {
  const { daemon, listeners, benches } = stage;
  const [first] = listeners;
  if (first === undefined) throw new Error('nobody listens');
  const mode = random.pick(MODES);
  const recommendation = random.pick(['approve', 'approve', 'deny'] as const);
  const { promise: answers, resolve: letJudge } = Promise.withResolvers<void>();
  const file = raceFile(number);
  benches.set(file, { recommendation, answers });
  const { wsId } = (await first.client.call('workstream.create', { mode })) as { wsId: string };
  for (const { client } of listeners) await client.call('events.subscribe', { wsId });
  const { runId } = (await first.client.call('workstream.send', {
    wsId,
    message: `${mode === 'auto' ? 'read' : 'write'} ${file}`,
  })) as {
    runId: string;
  };
  const asked = await within(
    first.until(wsId, ({ type }) => type === 'approve_request'),
    PATIENCE_MS,
    () => `a question, in ${file}`,
  );
  const { approval_id: approvalId } = asked.event as StreamEventOf<'approve_request'>;
  const approval = await pendingOf(first, wsId);
  const moves = toMoves(random, mode);
  const made = await makeMoves({ stage, mode, wsId, approvalId, approval, letJudge }, moves, random);
  letJudge();
  // If no move has decided it, the time does.
  if (!isForJudge({ mode, recommendation, moves }) && (await pendingOf(first, wsId)) !== undefined)
    await daemon.clock.advance(EXPIRES_MS);
  const isEnd = (event: Heard['event']) => event.type === 'ws_state' && event.run?.run_id === runId;
  await within(Promise.all(listeners.map((one) => one.until(wsId, isEnd))), PATIENCE_MS, () => `an end of ${file}`);
  await within(
    first.client.call('agent.wait', { runId, timeoutMs: PATIENCE_MS }),
    PATIENCE_MS,
    () => `a run of ${file}`,
  );
  const { verdicts } = (await first.client.call('verdict.list', { wsId })) as { verdicts: StoredVerdict[] };
  const { messages } = (await first.client.call('workstream.history', { wsId })) as { messages: StoredMessage[] };
  benches.delete(file);
  return {
    ...{ wsId, mode, recommendation, approvalId, moves, answers: made, verdicts },
    heard: listeners.map((one) => [...one.heard(wsId)]),
    outcomes: messages.flatMap(({ outcome }) => outcome ?? []),
    isWritten: existsSync(path.join(daemon.home, 'workspace', file)),
  };
}

async function pendingOf({ client }: Listener, wsId: string): Promise<Approval | undefined> {
  const { approvals } = (await client.call('approval.list', { wsId })) as { approvals: Approval[] };
  return approvals[0];
}

/** Nothing stands in the way of its verdict. */
const isForJudge = ({ mode, recommendation, moves }: Pick<Round, 'mode' | 'recommendation' | 'moves'>): boolean =>
  mode === 'auto' && recommendation === 'approve' && !moves.some((move) => move === 'forbid' || move === 'expire');

/** Others leave the judge a chance where it may decide. */
const toMoves = (random: Random, mode: Round['mode']): Move[] =>
  MOVES.filter((move) => random.chance(mode === 'auto' && move !== 'judge' ? 0.15 : 0.45))
    .map((move) => ({ move, at: random.fraction() }))
    .sort((a, b) => a.at - b.at)
    .map(({ move }) => move);

interface Question {
  stage: RaceStage;
  mode: Round['mode'];
  wsId: string;
  approvalId: string;
  approval: Approval | undefined;
  letJudge(): void;
}

/** Makes the moves almost at once, each by another client. Returns the answers. */
async function makeMoves(question: Question, moves: readonly Move[], random: Random) {
  const made: Promise<[Move, ResponseFrame] | undefined>[] = [];
  for (const move of moves) {
    made.push(make(question, move).then((answer) => (answer ? [move, answer] : undefined)));
    for (let turn = random.int(0, MOST_TURNS[question.mode]); turn > 0; turn -= 1) await new Promise(setImmediate);
  }
  const all = await within(Promise.all(made), PATIENCE_MS, () => `answers to ${moves.join(', ')}`);
  return new Map(all.flatMap((one) => (one ? [one] : [])));
}

async function make(question: Question, move: Move): Promise<ResponseFrame | undefined> {
  const { stage, mode, wsId, approvalId, approval, letJudge } = question;
  const clientOf = (index: number) => (stage.listeners[index] ?? stage.listeners[0])?.client;
  const resolve = (index: number, decision: object) =>
    clientOf(index)?.request('approval.resolve', { approvalId, ...decision });
  switch (move) {
    case 'approve':
      return resolve(0, { approved: true });
    case 'give a rule': {
      const [suggested] = approval?.items[0]?.rules ?? [];
      return resolve(1, { approved: true, rules: suggested ? [{ id: suggested.id, term: 'conversation' }] : [] });
    }
    case 'deny':
      return resolve(2, { approved: false, feedback: 'not now' });
    case 'always':
      return resolve(3, { approved: true, always: true });
    case 'cancel':
      return clientOf(4)?.request('workstream.cancel', { wsId });
    case 'forbid':
      return clientOf(2)?.request('rule.create', { action: 'deny', match: { tool: TOOLS[mode] }, wsId });
    case 'expire':
      await stage.daemon.clock.advance(EXPIRES_MS);
      return undefined;
    case 'judge':
      letJudge();
      return undefined;
  }
}
