import assert from 'node:assert/strict';
import type { HistoryMessage } from '../../protocol/stream-events.ts';
import { nothingSent, type Sent, without } from './extension.ts';
import { type Run, scriptTurn, sendScripted } from './scripted-turns.ts';
import { isForModels } from './stored-cuts.ts';
import type { Talk } from './talk.ts';

/**
 * A person takes a turn back, and perhaps sends it again. What precedes it is sent as before. A conversation without a
 * suitable message refuses it.
 */
export const takingBack =
  (method: 'workstream.rewind' | 'workstream.retry' | 'workstream.edit'): Run =>
  async (talk, random) => {
    const { wsId, machine, witness } = talk;
    const { messages } = await machine.call('workstream.history', { wsId });
    const asked = messages.filter(({ role, failed }) => role === 'user' && !failed);
    if (asked.length === 0) return;
    const earlier = witness.prefix.setAside();
    talk.isStopped = false;
    if (method === 'workstream.rewind') {
      const files = random.chance(0.3) && { files: true, onConflict: 'overwrite' as const };
      await machine.call(method, { wsId, turns: 1, ...files });
      witness.prefix.moveTo(await keptOf(talk, earlier, messages));
      if (random.chance(0.5)) await sendScripted(talk, random);
      return;
    }
    scriptTurn(talk, random);
    if (method === 'workstream.retry') await machine.call(method, { wsId });
    else await edit(talk, random.pick(asked).seq);
    await talk.settle();
    await talk.checkEnd();
    witness.prefix.compareFirst(await keptOf(talk, earlier, messages));
  };

async function edit(talk: Talk, seq: number | undefined): Promise<void> {
  assert.ok(seq !== undefined);
  await talk.machine.call('workstream.edit', { wsId: talk.wsId, seq, message: talk.nextMessage() });
}

/** What of the requests so far stays after the latest rewind. `messages`: those before it. */
async function keptOf(talk: Talk, earlier: Sent, messages: readonly HistoryMessage[]): Promise<Sent> {
  const { db } = talk.machine.store;
  const cuts = await db.selectFrom('cuts').selectAll().where('ws_id', '=', talk.wsId).orderBy('n').execute();
  const rewind = cuts.findLast(({ kind }) => kind === 'rewind');
  assert.ok(rewind);
  const { after_seq: upTo } = rewind;
  // It may go back behind a cut, or leave nothing that a model has read.
  const isBehind = cuts.some(({ n, kind, at_seq }) => n < rewind.n && isForModels(kind) && at_seq > upTo);
  const isAnswered = messages.some(({ role, seq = 0 }) => role === 'assistant' && seq <= upTo);
  const taken = messages.find(({ role, seq = 0 }) => role === 'user' && seq > upTo);
  const [text] = /message \d+/.exec(taken?.content ?? '') ?? [];
  if (isBehind || !isAnswered || text === undefined) return nothingSent();
  return without(earlier, new RegExp(`${text}(?!\\d)`));
}
