import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actingUserIn } from '../mcp/oauth/acting-user.ts';
import { calling } from '../testing/puppet-model.ts';
import { type CallAs, turnsUntil } from '../testing/whole-gateway.ts';
import { coordinatorGateway, LOCAL } from './coordinators-fixture.ts';

const ADA: CallAs = { ...LOCAL, userId: 'user_ada' };
const BOB: CallAs = { ...LOCAL, userId: 'user_bob' };
const spawning = calling('spawn_workstream', { message: 'count' });

/** A gateway whose children ask before they do something, so that their runs can be looked at. */
async function open() {
  const gateway = await coordinatorGateway();
  gateway.children(({ messages }) => (messages.at(-1)?.role === 'tool' ? ['done'] : [calling('touch')]));
  const waits = async (wsId: string) => {
    const { snapshot } = await gateway.call('workstream.get', { wsId });
    return snapshot.workstream.state === 'attention';
  };
  const userIn = (wsId: string) => actingUserIn({ store: gateway.store, users: { count: 2 } }, wsId);
  const extra = {
    /** Has the coordinator make a turn for a caller. */
    async go(of: string, turn: ReturnType<typeof calling>, as: CallAs): Promise<void> {
      gateway.turns.push([turn]);
      await gateway.call('workstream.send', { wsId: of, message: 'go on' }, as);
      await gateway.answered(of);
    },
    /** In whose name a child runs. */
    async actsIn(child: string) {
      await turnsUntil(() => waits(child), 'a question');
      const user = await userIn(child);
      await gateway.answered(child);
      return user;
    },
  };
  return Object.assign(gateway, extra);
}

test('a message of a coordinator acts for whom its own run acts', async () => {
  await using gateway = await open();
  await gateway.go(gateway.wsId, spawning, ADA);
  const { wsId: child } = await gateway.child();
  assert.equal(await gateway.actsIn(child), 'user_ada');
  const sending = calling('send_to_workstream', { ws_id: child, message: 'go on' });
  await gateway.go(gateway.wsId, sending, ADA);
  assert.equal(await gateway.actsIn(child), 'user_ada');
  // What was written for one person is not done with the account of another.
  await gateway.go(gateway.wsId, sending, BOB);
  assert.equal(await gateway.actsIn(child), undefined);
  await gateway.go(gateway.wsId, sending, ADA);
  assert.equal(await gateway.actsIn(child), undefined);
});

test('the owner of a coordinator lends no account to others who write to it', async () => {
  await using gateway = await open();
  const { wsId: of } = await gateway.call('workstream.create', { kind: 'coordinator' }, ADA);
  await gateway.go(of, spawning, LOCAL);
  const [child] = await gateway.childrenOf(of);
  assert.ok(child);
  assert.equal(await gateway.actsIn(child.wsId), undefined);
});
