import { DAEMON } from '../../../src/gateway/sharing/perception.ts';
import type { Random } from '../../checker/random.ts';
import { ALIASES } from '../model-servers.ts';
import { answerOf, type Run, sendScripted } from '../scripted-turns.ts';
import type { Reply } from '../simulate.ts';
import type { Talk } from '../talk.ts';
import { nameOf } from './children.ts';
import { messageTo, newChild, waitFor } from './lead-calls.ts';
import { openChildren, plannedChildren, settleChildren } from './tree.ts';

/** Turns of a coordinator that makes children, writes to them, waits for them and perhaps ends them. */
function scriptWork(talk: Talk, random: Random): void {
  const call = (name: string, given: object): Reply => ({
    answer: { calls: [{ id: talk.nextCallId(), name, arguments: given }] },
  });
  const made = Array.from({ length: random.int(1, 3) }, () => newChild(talk, random));
  const names = made.map(({ name }) => String(name));
  const [first = {}] = made;
  const number = plannedChildren(talk).at(-1) ?? 1;
  const ends = [
    call('close_all_children', {}),
    call('close_workstream', { ws_ids: [nameOf(number)] }),
    call('cancel_workstream', { ws_ids: names }),
  ];
  talk.witness.script(
    made.length === 1 ? call('spawn_workstream', first) : call('spawn_batch', { workstreams: made }),
    ...(random.chance(0.5) ? [call('send_to_workstream', messageTo(number, talk, random))] : []),
    ...(random.chance(0.8) ? [call('wait_for_workstream', waitFor(names, random))] : []),
    ...(random.chance(0.3) ? [random.pick(ends)] : []),
    answerOf(talk, random, 0),
  );
}

/** Children work for the coordinator. While they are being answered, the daemon may be killed. */
export const haveWork: Run = async (talk, random) => {
  scriptWork(talk, random);
  await whileChildrenAnswer(talk, async () => {
    if (random.chance(0.5)) await talk.machine.crashAnew();
    else if (random.chance(0.3)) await talk.machine.restartAnew();
  });
};

/** A person stops everything: nothing runs on. */
export const stopAll: Run = async (talk, random) => {
  scriptWork(talk, random);
  await whileChildrenAnswer(talk, async () => {
    talk.isStopped = true;
    const { machine, wsId, witness } = talk;
    const { cancelled, failed } = await machine.call('coordinator.stop', { wsId });
    const left = cancelled.filter((id) => machine.parts.workstreams.find(id, DAEMON)?.busy);
    if (left.length + failed.length > 0) witness.violate(`${left.length} of ${cancelled.length} children run on`);
    if (random.chance(0.3)) await machine.crashAnew();
  });
  await sendScripted(talk, random);
};

/** Does something when children are being answered, or when the coordinator is done. Then the answers go on. */
async function whileChildrenAnswer(talk: Talk, act: () => Promise<void>): Promise<void> {
  const { machine, wsId, witness } = talk;
  const before = witness.children.asked();
  witness.children.hold();
  talk.isStopped = false;
  await machine.call('workstream.send', { wsId, message: talk.nextMessage() });
  await talk.settle({ orWhen: () => witness.children.asked() > before });
  await witness.prefix.interruptedBy(act);
  witness.children.open();
  await talk.settle();
  await talk.checkEnd();
  await settleChildren(talk);
}

/** A person goes on in the conversation of a child, and comes back. */
export const writeToChild: Run = async (talk, random) => {
  const { machine, witness } = talk;
  const open = openChildren(talk);
  if (open.length === 0) return haveWork(talk, random);
  const child = random.pick(open);
  const { wsId, number } = child;
  if (random.chance(0.3)) await machine.call('workstream.update', { wsId, model: random.pick(ALIASES) });
  if (random.chance(0.2)) await machine.call('workstream.command', { wsId, command: '/compact' });
  for (let count = random.int(1, 2); count > 0; count -= 1)
    await machine.call('workstream.send', { wsId, message: witness.children.messageTo(number), queue: true });
  if (random.chance(0.3)) await talk.machine.crashAnew();
  await settleChildren(talk);
  if (random.chance(0.5)) await sendScripted(talk, random);
};

/** What a person says about a coordinator. */
export const trustOrRestrict: Run = async (talk, random) => {
  const { machine, wsId } = talk;
  if (random.chance(0.7)) await machine.call('coordinator.trust', { wsId, send: random.chance(0.8) });
  else await machine.call('coordinator.restrict', { wsId, revoke: [random.pick(['touch', 'fetch', 'list_nodes'])] });
  if (random.chance(0.3)) await machine.crashAnew();
  await sendScripted(talk, random);
  await settleChildren(talk);
};

/** All children are closed; one is opened again, and goes on where it was. */
export const closeAll: Run = async (talk, random) => {
  const { machine, wsId, witness } = talk;
  const open = openChildren(talk);
  await machine.call('coordinator.close', { wsId });
  const left = openChildren(talk);
  if (left.some(({ isOwn }) => isOwn)) witness.violate('not all children were closed');
  const [again] = open;
  if (again && random.chance(0.7)) {
    await machine.call('workstream.open', { wsId: again.wsId });
    await machine.call('workstream.send', { wsId: again.wsId, message: witness.children.messageTo(again.number) });
    await settleChildren(talk);
  }
  await sendScripted(talk, random);
};
