import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../checker/random.ts';
import { openSimMachine } from '../sim-machine.ts';
import { createWitness, newOutcome } from '../simulate.ts';
import { Talk } from '../talk.ts';
import { nameOf } from './children.ts';
import { newChild } from './lead-calls.ts';
import { checkChildren, openChildren, settleChildren } from './tree.ts';

/** A coordinator that has a child, to which something is done, and which is then written to again. */
async function wrongAfter(harm: (talk: Talk, child: { wsId: string }) => Promise<void>): Promise<string[]> {
  const outcome = newOutcome(1);
  const witness = createWitness(outcome);
  const surroundings = { release: { version: 1, hasDepth: false, hasThird: false }, instructions: undefined };
  const { decide, onRefusal, whileEnding } = witness;
  const servers = { limits: { window: 200_000, images: 20 }, decide, onRefusal, whileEnding };
  await using machine = await openSimMachine(surroundings, servers);
  const { wsId } = await machine.call('workstream.create', { kind: 'coordinator' });
  const random = createRandom(1);
  const openMachine = () => assert.fail('no other machine');
  const talk = new Talk({ machine, openMachine, surroundings, random, witness, wsId });
  await machine.call('workstream.update', { wsId, autoApprove: true });
  const spawn = { id: 'call_1', name: 'spawn_workstream', arguments: { ...newChild(talk, random), mode: 'ask' } };
  const wait = { id: 'call_2', name: 'wait_for_workstream', arguments: { ws_ids: [nameOf(1)] } };
  witness.script({ answer: { calls: [spawn] } }, { answer: { calls: [wait] } });
  await talk.send('message 1');
  const [child] = openChildren(talk);
  assert.ok(child);
  await harm(talk, child);
  await machine.call('workstream.send', { wsId: child.wsId, message: witness.children.messageTo(1) });
  await settleChildren(talk);
  await checkChildren(talk);
  return outcome.violations.map(({ what }) => what.replaceAll(/[:,] .*/g, ''));
}

/** Changes stored messages, and makes them look intact. */
const replacing = (from: string, to: string): string =>
  `update messages set body_json = replace(body_json, '${from}', '${to}'),
    checksum = message_checksum(ws_id, seq, run_id, replace(body_json, '${from}', '${to}'), created_ms)
  where ws_id = ? and instr(body_json, '${from}') > 0`;
const TOLD = replacing('message 1001', 'message 1999');
const SAID = replacing('"text\\":\\"answer', '"text\\":\\"Answer');

/** Changes what a daemon stored; the next one reads it. */
const changing =
  (sql: string, ofChild: boolean) =>
  async ({ machine, wsId }: Talk, child: { wsId: string }): Promise<void> => {
    const statement = { sql, parameters: [ofChild ? child.wsId : wsId] };
    await machine.store.commit({ statements: [statement] });
    await machine.crashAnew();
  };

test('a child whose conversation is as it was is no violation, also after a kill', async () => {
  assert.deepEqual(await wrongAfter(({ machine }) => machine.crashAnew()), []);
});

test('a changed message of a child is found', async () => {
  const wrong = await wrongAfter(changing(TOLD, true));
  assert.equal(wrong[0], 'child 1');
});

test('an answer that a coordinator was told of, but no child gave, is found', async () => {
  const [wrong = ''] = await wrongAfter(changing(SAID, false));
  assert.match(wrong, /came from child 1/);
});

test('a message that a child got twice is found', async () => {
  const wrong = await wrongAfter(async ({ machine }, { wsId }) => {
    await machine.call('workstream.send', { wsId, message: 'message 1001' });
  });
  assert.deepEqual(wrong, ['child 1 was sent "message 1001" twice']);
});
