import type { Result } from '../../protocol/index.ts';
import type { Random } from '../checker/random.ts';
import type { RecordedSocket } from '../checker/recording/record-socket.ts';
import type { Recorder } from '../checker/recording/recorder.ts';

interface Setting {
  wsId: string;
  recorder: Recorder;
  socket: RecordedSocket;
  random: Random;
}

/** Sets the budget of a workstream so that the next calls use it up, or removes it. */
export async function setBudget({ wsId, recorder, socket, random }: Setting): Promise<void> {
  const isRemoved = random.chance(0.2);
  const room = random.int(1, 12_000);
  const used = isRemoved ? 0 : await Promise.race([usedBy(socket, wsId), socket.ended.then(() => undefined)]);
  if (used === undefined) return;
  const params = { wsId, ...(!isRemoved && { tokens: used + room }) };
  await recorder.call({ method: 'budget.set', params }, socket).answered;
}

function usedBy(socket: RecordedSocket, wsId: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  socket.request('usage.get', { by: 'workstream', wsId }, ({ ok, payload }) => {
    resolve(ok ? tokensOf((payload as Result<'usage.get'>).rows) : undefined); // by the method's contract
  });
  return promise;
}

const tokensOf = (rows: Result<'usage.get'>['rows']): number =>
  rows.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);

interface Spent {
  usage: readonly { input: number; output: number }[];
  grants: readonly { scope: string; tokens: number }[];
}

/** Per chapter: no budgets, one that all workstreams share, or one for each run and each workstream. */
export function budgetsOf(chapter: number, { usage, grants }: Spent): object {
  if (chapter % 3 === 0) return {};
  if (chapter % 3 === 2) return { run: { tokens: 12_000 }, workstream: { tokens: 60_000 } };
  const used = usage.reduce((sum, { input, output }) => sum + input + output, 0);
  const granted = grants.reduce((sum, { scope, tokens }) => sum + (scope === 'day' ? tokens : 0), 0);
  return { day: { tokens: Math.max(1, used - granted + SHARED_ROOM) } };
}

/** Enough for eight calls at once, each of which may use 128 000 tokens of output. */
const SHARED_ROOM = 1_500_000;

/** What the answers of a chapter use: with a shared budget more, so that it is met. */
export const answerTokens = (chapter: number): { from: number; to: number } =>
  chapter % 3 === 1 ? { from: 20_000, to: 60_000 } : { from: 1_000, to: 3_000 };
