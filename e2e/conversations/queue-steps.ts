import assert from 'node:assert/strict';
import type { Random } from '../checker/random.ts';
import { answerOf, type Run, scriptTurn } from './scripted-turns.ts';
import type { Talk } from './talk.ts';

/** A message for the run in progress: in time if the model makes calls, too late if it is about to finish. */
export const steering: Run = (talk, random) =>
  whileAnswering(talk, random, async () => {
    const { machine, wsId } = talk;
    for (let count = random.int(1, 2); count > 0; count -= 1) {
      const message = talk.nextMessage();
      if (random.chance(0.6)) await machine.call('workstream.send', { wsId, message, steer: true });
      else await machine.call('queue.steer', { wsId, runId: await wait(talk, message) });
      talk.expected.push(message);
    }
  });

/** Messages wait for the end of the run; some are taken back, changed or moved. */
export const queueing: Run = (talk, random) =>
  whileAnswering(talk, random, async () => {
    const { machine, wsId } = talk;
    for (let count = random.int(1, 3); count > 0; count -= 1) {
      const message = talk.nextMessage();
      const runId = await wait(talk, message);
      const mood = random.fraction();
      if (mood < 0.3) {
        talk.takenBack(runId);
        await machine.call('queue.remove', { wsId, runId });
        talk.unexpected.push(message);
      } else if (mood < 0.5) {
        const other = talk.nextMessage();
        await machine.call('queue.edit', { wsId, runId, message: other });
        talk.unexpected.push(message);
        talk.expected.push(other);
      } else talk.expected.push(message);
      if (mood > 0.8) await machine.call('queue.move', { wsId, runId, to: 0 });
    }
  });

async function wait({ machine, wsId }: Talk, message: string): Promise<string> {
  const { runId } = await machine.call('workstream.send', { wsId, message, queue: true });
  assert.ok(runId !== undefined);
  return runId;
}

/** Does something while the first answer of a run is half sent. Then the answer goes on, or the daemon is killed. */
async function whileAnswering(talk: Talk, random: Random, act: () => Promise<void>): Promise<void> {
  const held = Promise.withResolvers<void>();
  let isAsked = false;
  const onAsked = () => {
    isAsked = true;
  };
  const first = answerOf(talk, random, random.pick([0, 1, 2]));
  talk.witness.script({ ...first, holdAfter: random.int(0, 6), released: held.promise, onAsked });
  scriptTurn(talk, random);
  talk.isStopped = false;
  const cuts = await talk.cuts();
  await talk.machine.call('workstream.send', { wsId: talk.wsId, message: talk.nextMessage() });
  await talk.until(() => isAsked);
  await act();
  if (random.chance(0.2)) await talk.machine.crashAnew();
  held.resolve();
  await talk.settle();
  await talk.checkEnd();
  talk.checkExpected({ isWhole: !talk.isStopped && (await talk.cuts()) === cuts });
}
