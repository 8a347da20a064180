import assert from 'node:assert/strict';
import type { Random } from '../checker/random.ts';
import { sendScripted } from './scripted-turns.ts';
import type { Talk } from './talk.ts';

/** The conversation goes on in a copy, perhaps on another machine. */
export async function elsewhere(talk: Talk, random: Random): Promise<void> {
  const { machine, wsId } = talk;
  const { messages } = await machine.call('workstream.history', { wsId });
  if (messages.length === 0) return;
  const mood = random.fraction();
  if (mood < 0.4) talk.moveTo((await machine.call('workstream.fork', { wsId })).wsId);
  else {
    const file = await machine.call('workstream.export', { wsId });
    assert.ok(file.format === 'json');
    const alias = await talk.alias();
    if (mood > 0.7) await talk.changeMachine();
    talk.moveTo((await talk.machine.call('workstream.import', { conversation: file.conversation })).wsId);
    if (mood > 0.7) await talk.update({ model: alias });
  }
  await sendScripted(talk, random);
}
